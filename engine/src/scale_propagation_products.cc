// Matrix products of scaled tensors: plain loops over 16-bit operands that a compiler vectorises.
#include <algorithm>

#include "scale_propagation.h"

namespace octavo {
namespace {

// A block of 4096 products of 10-bit numbers: 4096·511² < 2^31.
constexpr int kBlock = 4096;

int64_t dot(const int16_t* a, const int16_t* b, int n) {
  int64_t sum = 0;
  for (int first = 0; first < n; first += kBlock) {
    const int end = std::min(first + kBlock, n);
    int32_t block = 0;
    for (int k = first; k < end; ++k) block += a[k] * b[k];
    sum += block;
  }
  return sum;
}

// c = a·bᵀ.   a: (rows, inputs), b: (outputs, inputs)
void multiply_transposed(const int16_t* a, const int16_t* b, int rows, int outputs, int inputs, int64_t* c) {
  for (int64_t j = 0; j < outputs; ++j) {
    for (int64_t i = 0; i < rows; ++i) {
      c[i * outputs + j] = dot(a + i * inputs, b + j * inputs, inputs);
    }
  }
}

std::vector<int16_t> packed(const ScaledTensor& a) {
  std::vector<int16_t> x(a.x.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int16_t>(a.x[i]);
  return x;
}

}  // namespace

ScaledTensor ScalePropagation::product(const ScaledTensor& a, const ScaledTensor& b) {
  ScaledTensor out(a.rows, b.rows, Width::kFull);
  multiply_transposed(packed(a).data(), packed(b).data(), a.rows, b.rows, a.cols, out.x.data());
  out.row_scale = a.row_scale;
  const float first = b.row_scale.front();
  if (std::ranges::all_of(b.row_scale, [first](float s) { return s == first; })) {
    for (float& s : out.row_scale) s *= first;
  } else {
    out.col_scale = b.row_scale;
  }
  return out;
}

std::pair<ScaledTensor, ScaledTensor> ScalePropagation::match_operands(const ScaledTensor& a,
                                                                       const ScaledTensor& b) const {
  if (paper()) return {match_columns(rescale(a)), match_columns(rescale(b))};
  std::pair<ScaledTensor, ScaledTensor> operands = {a, b.width == Width::kStored ? b : rescale(b)};
  auto& [left, right] = operands;
  if (!right.col_scale.empty()) {
    left.col_scale.resize(a.cols, 1.0f);
    for (int j = 0; j < a.cols; ++j) left.col_scale[j] *= right.col_scale[j];
    right.col_scale.clear();
  }
  left = rescale(match_columns(left));
  return operands;
}

ScaledTensor ScalePropagation::matmul(const ScaledTensor& a, const ScaledTensor& b) const {
  const auto [left, right] = match_operands(a, b);
  return product(left, right);
}

ScaledTensor ScalePropagation::matmul(const ScaledTensor& a, const ScaledMatrix& b) const {
  ScaledTensor out(a.rows, b.rows, Width::kFull);
  multiply_transposed(packed(a).data(), b.x.data(), a.rows, b.rows, a.cols, out.x.data());
  out.row_scale = a.row_scale;
  out.col_scale = b.row_scale;
  return out;
}

}  // namespace octavo
