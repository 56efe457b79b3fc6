// What the Integer Transformer needs beside the operations of the paper's table.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "scale_matching.h"
#include "scale_propagation.h"

namespace octavo {
namespace {

constexpr float kC = 1.2533141373155001f;  // √(π/2)

// |δ| at the scale sⁿ of the powers it is added to, divided by 2^(bits-1) like a fifth power. It is
// held below a bound: 2^30 at 8 bits, the same share of the powers at others (2^38 at most).
int64_t delta_at(float delta, float scale, int n, int bits) {
  const double most = std::ldexp(1.0, 30 + (bits - 8) * std::min(n, 4));
  float value = n == 5 ? std::ldexp(delta, 1 - bits) : delta;
  for (int d = 0; d < n; ++d) value *= scale;
  return value < most ? to_integer(value) : static_cast<int64_t>(most);
}

}  // namespace

ScaledTensor ScalePropagation::polynomial(const ScaledTensor& a, int n, float delta) const {
  if (paper()) {
    ScaledTensor out = rescale(add_constant(rescale(power(a, n)), delta));
    for (int i = 0; i < out.rows; ++i) {
      if (out.max_abs(i) == 0) std::fill_n(out.row(i), out.cols, 1);
    }
    return out;
  }
  // A fifth power is xⁿ⁻¹ without its lowest bits times x: the fast path has 31 bits.
  ScaledTensor out = power(a, n);
  for (int i = 0; i < a.rows; ++i) {
    const int64_t d = a.max_abs(i) == 0 ? 1 : delta_at(delta, a.row_scale[i], n, bits);
    for (int j = 0; j < a.cols; ++j) {
      const int64_t x = a.row(i)[j];
      if (n == 5) out.row(i)[j] = shifted(x * x * x * x, bits - 1) * x;
      out.row(i)[j] += d;
    }
    if (n == 5) out.row_scale[i] = std::ldexp(out.row_scale[i], 1 - bits);
  }
  return out;
}

ScaledTensor ScalePropagation::weighted_mean(const ScaledTensor& p, const ScaledTensor& v,
                                             ScaledTensor* weights) const {
  ScaledTensor normalised = paper() ? p : widen(p);
  std::vector<int64_t> sums;
  for (int i = 0; i < p.rows; ++i) {
    sums.push_back(std::reduce(normalised.row(i), normalised.row(i) + p.cols));
    normalised.row_scale[i] = paper() ? 1.0f : static_cast<float>(sums.back());
  }
  const auto [left, right] = match_operands(normalised, transpose(v));
  ScaledTensor out = product(left, right);
  if (weights != nullptr) *weights = left;
  if (!paper()) return out;
  for (int i = 0; i < p.rows; ++i) {
    for (int j = 0; j < out.cols; ++j) out.row(i)[j] = rounded_quotient(out.row(i)[j], sums[i]);
  }
  out.width = Width::kStored;  // a mean is not larger than what it is the mean of
  out.bits = bits;
  return out;
}

ScaledTensor ScalePropagation::centre(const ScaledTensor& a) const {
  ScaledTensor c = a;
  c.width = Width::kFull;
  for (int i = 0; i < a.rows; ++i) {
    const int64_t sum = std::reduce(a.row(i), a.row(i) + a.cols);
    for (int j = 0; j < a.cols; ++j) c.row(i)[j] = a.cols * a.row(i)[j] - sum;
  }
  ScaledTensor out = paper() ? rescale(c) : widen(c);
  for (int i = 0; i < a.rows; ++i) {
    int64_t sum = 0;
    for (int j = 0; j < a.cols; ++j) sum += std::abs(out.row(i)[j]);
    // A constant row has c = 0: any scale does that does not become the smallest of a sum.
    if (sum == 0) sum = a.cols * (paper() ? limit() : kWideMax);
    out.row_scale[i] = kC * static_cast<float>(sum) / static_cast<float>(a.cols);
  }
  return out;
}

ScaledTensor ScalePropagation::gain(const ScaledTensor& a, const ScaledTensor& g) const {
  if (paper()) return rescale(multiply(a, g));
  ScaledTensor out = widen(a);
  for (int i = 0; i < a.rows; ++i) {
    for (int j = 0; j < a.cols; ++j) {
      const auto multiplier = static_cast<int32_t>(g.row(0)[j]);
      const int64_t product = times_q15(out.row(i)[j], std::abs(multiplier));
      out.row(i)[j] = multiplier < 0 ? -product : product;
    }
    out.row_scale[i] *= g.row_scale[0] * (1.0f / 32768.0f);
  }
  return out;
}

}  // namespace octavo
