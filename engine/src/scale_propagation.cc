#include "scale_propagation.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "fixed_point.h"
#include "scale_matching.h"

namespace octavo {
namespace {

constexpr float kScaleLimit = 0x1p100f;  // keeps sⁿ finite
constexpr float kNoScale = std::numeric_limits<float>::max();

float power_of(float s, int n) {
  float result = s;
  for (int d = 1; d < n; ++d) result *= s;
  return std::clamp(result, 1 / kScaleLimit, kScaleLimit);
}

// One scale per row, or one for all; rows of almost nothing get the largest scale.
ScaledTensor quantize_rows(std::span<const float> real, int rows, int cols, int64_t limit, float largest_scale,
                           bool shared, Width width, int bits) {
  ScaledTensor out(rows, cols, width, bits);
  const auto scale_of = [&](std::span<const float> part) {
    float max = 0;
    for (const float r : part) max = std::max(max, std::abs(r));
    const double scale = max > 0 ? static_cast<double>(limit) / double{max} : double{largest_scale};
    return static_cast<float>(std::min(scale, double{largest_scale}));
  };
  const float all = shared ? scale_of(real) : 0;
  for (int i = 0; i < rows; ++i) {
    const std::span<const float> r = real.subspan(static_cast<size_t>(i) * cols, cols);
    const float s = out.row_scale[i] = shared ? all : scale_of(r);
    for (int j = 0; j < cols; ++j) {
      const double q = double{r[j]} * s;
      out.row(i)[j] = std::clamp(static_cast<int64_t>(q + std::copysign(0.5, q)), -limit, limit);
    }
  }
  return out;
}

ScaledTensor like(const ScaledTensor& a, Width width, int bits = 0) {
  ScaledTensor out(a.rows, a.cols, width, bits);
  out.row_scale = a.row_scale;
  out.col_scale = a.col_scale;
  return out;
}

template <class Function>
ScaledTensor each(const ScaledTensor& a, Function f) {
  ScaledTensor out = a;
  for (int64_t& x : out.x) x = f(x);
  return out;
}

}  // namespace

ScaledTensor::ScaledTensor(int row_count, int col_count, Width w, int b)
    : rows(row_count),
      cols(col_count),
      width(w),
      bits(b),
      x(static_cast<size_t>(row_count) * static_cast<size_t>(col_count)),
      row_scale(static_cast<size_t>(row_count), 1.0f) {}

int64_t ScaledTensor::max_abs(int i) const {
  int64_t max = 0;
  for (int j = 0; j < cols; ++j) max = std::max(max, std::abs(row(i)[j]));
  return max;
}

std::vector<float> ScaledTensor::dequantized() const {
  std::vector<float> real(x.size());
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < cols; ++j) {
      const float scale = col_scale.empty() ? row_scale[i] : row_scale[i] * col_scale[j];
      real[int64_t{i} * cols + j] = static_cast<float>(row(i)[j]) / scale;
    }
  }
  return real;
}

ScaledTensor quantize_row(std::span<const float> real, int64_t limit, Width width, int bits) {
  return quantize_rows(real, 1, static_cast<int>(real.size()), limit, 0x1p20f, false, width, bits);
}

ScaledTensor ScalePropagation::quantize(std::span<const float> real, int rows, int cols, Width width) const {
  return quantize_rows(real, rows, cols, width == Width::kWide ? kWideMax : limit(), 0x1p30f,
                       granularity == Granularity::kSentence, width, bits);
}

// Every operand of a Q15 product has 13 bits: stored rows are shifted left, products narrowed.
ScaledTensor ScalePropagation::widen(const ScaledTensor& a) const {
  if (a.width == Width::kWide) return a;
  ScaledTensor out = like(a, Width::kWide);
  for (int i = 0; i < a.rows; ++i) {
    const int shift = a.width == Width::kStored ? a.bits - 14 : narrowing(a.max_abs(i));
    for (int j = 0; j < a.cols; ++j) out.row(i)[j] = shifted(a.row(i)[j], shift);
    out.row_scale[i] = std::ldexp(a.row_scale[i], -shift);
  }
  return out;
}

ScaledTensor ScalePropagation::hold(const ScaledTensor& a) const {
  ScaledTensor out = operand(a);
  for (float& s : out.row_scale) s = held_scale(s);
  return out;
}

ScaledTensor ScalePropagation::rescale(const ScaledTensor& a) const {
  const bool shared = granularity == Granularity::kSentence;
  const bool one_scale = !shared || std::ranges::count(a.row_scale, a.row_scale[0]) == a.rows;
  if (a.width == Width::kStored && a.bits <= bits && one_scale) return a;
  ScaledTensor out = operand(a);
  if (!one_scale) out = match_rows(out);
  int64_t all = 0;
  for (int i = 0; i < a.rows; ++i) all = std::max(all, out.max_abs(i));
  for (int i = 0; i < a.rows; ++i) {
    const int64_t max = shared ? all : out.max_abs(i);
    if (paper()) {
      const int64_t divisor = std::max<int64_t>((max + limit() - 1) / limit(), 1);  // ⌈max / L⌉
      for (int j = 0; j < a.cols; ++j) out.row(i)[j] = rounded_quotient(out.row(i)[j], divisor);
      out.row_scale[i] /= static_cast<float>(divisor);
    } else {
      const int32_t m = rescale_multiplier(static_cast<int32_t>(max), static_cast<int32_t>(limit()));
      for (int j = 0; j < a.cols; ++j) out.row(i)[j] = times_q15(out.row(i)[j], m);
      out.row_scale[i] = scaled_q15(out.row_scale[i], m);
    }
  }
  out.width = Width::kStored;
  out.bits = bits;
  return out;
}

// -------------------------------------------------------------------------------- shape operations

ScaledTensor ScalePropagation::transpose(const ScaledTensor& a) const {
  ScaledTensor out(a.cols, a.rows, a.width, a.bits);
  for (int i = 0; i < a.rows; ++i) {
    for (int j = 0; j < a.cols; ++j) out.row(j)[i] = a.row(i)[j];
  }
  if (!a.col_scale.empty()) out.row_scale = a.col_scale;
  out.col_scale = a.row_scale;
  return out;
}

ScaledTensor ScalePropagation::slice(const ScaledTensor& a, int first_row, int rows, int first_col, int cols) const {
  ScaledTensor out(rows, cols, a.width, a.bits);
  for (int i = 0; i < rows; ++i) {
    std::copy_n(a.row(first_row + i) + first_col, cols, out.row(i));
    out.row_scale[i] = a.row_scale[first_row + i];
  }
  if (!a.col_scale.empty()) {
    out.col_scale.assign(a.col_scale.begin() + first_col, a.col_scale.begin() + first_col + cols);
  }
  return out;
}

ScaledTensor ScalePropagation::concat_rows(std::span<const ScaledTensor> parts) const {
  ScaledTensor out = parts.front();
  for (const ScaledTensor& part : parts.subspan(1)) {
    out.rows += part.rows;
    out.x.insert(out.x.end(), part.x.begin(), part.x.end());
    out.row_scale.insert(out.row_scale.end(), part.row_scale.begin(), part.row_scale.end());
  }
  return out;
}

ScaledTensor ScalePropagation::concat_cols(std::span<const ScaledTensor> parts) const {
  std::vector<ScaledTensor> operands;
  int cols = 0;
  for (const ScaledTensor& part : parts) {
    operands.push_back(operand(part));
    cols += part.cols;
  }
  ScaledTensor out(parts[0].rows, cols, operands[0].width, operands[0].bits);
  for (int i = 0; i < out.rows; ++i) {
    float least = kNoScale;
    for (const ScaledTensor& part : operands) {
      if (part.max_abs(i) > 0) least = std::min(least, part.row_scale[i]);
    }
    if (least == kNoScale) continue;  // zeros, with the scale 1
    out.row_scale[i] = least;
    int64_t* to = out.row(i);
    for (const ScaledTensor& part : operands) {
      const Match match(paper(), std::max(part.row_scale[i], least), least);
      to = std::transform(part.row(i), part.row(i) + part.cols, to, match);
    }
  }
  return out;
}

// ------------------------------------------------------------------------- element-wise operations

ScaledTensor ScalePropagation::multiply(const ScaledTensor& a, const ScaledTensor& b) const {
  ScaledTensor out = like(a, Width::kFull);
  for (int i = 0; i < a.rows; ++i) {
    const int k = b.rows == 1 ? 0 : i;
    out.row_scale[i] = a.row_scale[i] * b.row_scale[k];
    for (int j = 0; j < a.cols; ++j) out.row(i)[j] = a.row(i)[j] * b.row(k)[j];
  }
  if (!b.col_scale.empty()) {
    out.col_scale.resize(a.cols, 1.0f);
    for (int j = 0; j < a.cols; ++j) out.col_scale[j] *= b.col_scale[j];
  }
  return out;
}

ScaledTensor ScalePropagation::abs(const ScaledTensor& a) const {
  return each(a, [](int64_t x) { return std::abs(x); });
}

ScaledTensor ScalePropagation::relu(const ScaledTensor& a) const {
  return each(a, [](int64_t x) { return std::max<int64_t>(x, 0); });
}

ScaledTensor ScalePropagation::power(const ScaledTensor& a, int n) const {
  ScaledTensor out = each(a, [n](int64_t x) {
    int64_t result = x;
    for (int d = 1; d < n; ++d) result *= x;
    return result;
  });
  out.width = Width::kFull;
  for (float& s : out.row_scale) s = power_of(s, n);
  for (float& s : out.col_scale) s = power_of(s, n);
  return out;
}

ScaledTensor ScalePropagation::divide(ScaledTensor a, float f) const {
  for (float& s : a.row_scale) s *= f;
  return a;
}

// ------------------------------------------------------------------------------ matching and sums

ScaledTensor ScalePropagation::add(std::span<const ScaledTensor> terms) const {
  std::vector<ScaledTensor> operands;
  int rows = 0;
  for (const ScaledTensor& term : terms) {
    operands.push_back(operand(term));
    rows = std::max(rows, term.rows);
  }
  ScaledTensor out(rows, terms[0].cols, paper() ? Width::kFull : Width::kWide);
  for (int i = 0; i < rows; ++i) {
    float least = kNoScale;
    const auto row_of = [i](const ScaledTensor& term) { return term.rows == 1 ? 0 : i; };
    for (const ScaledTensor& term : operands) least = std::min(least, term.row_scale[row_of(term)]);
    for (const ScaledTensor& term : operands) {
      const Match match(paper(), term.row_scale[row_of(term)], least);
      const int64_t* x = term.row(row_of(term));
      for (int j = 0; j < out.cols; ++j) out.row(i)[j] += match(x[j]);
    }
    out.row_scale[i] = least;
  }
  return out;
}

// The paper quantises the constant like any tensor. In fixed-point arithmetic it is rounded once,
// at the scale of the sum, and has at most 13 bits.
ScaledTensor ScalePropagation::add_constant(const ScaledTensor& a, float b) const {
  ScaledTensor out = operand(a);
  if (b == 0) return out;
  const float scale = static_cast<float>(paper() ? limit() : kWideMax) / std::abs(b);
  for (int i = 0; i < a.rows; ++i) {
    const float least = std::min(out.row_scale[i], scale);
    const Match match(paper(), out.row_scale[i], least);
    const int64_t constant = paper() ? Match(true, scale, least)(b < 0 ? -limit() : limit()) : to_integer(b * least);
    for (int j = 0; j < a.cols; ++j) out.row(i)[j] = match(out.row(i)[j]) + constant;
    out.row_scale[i] = least;
  }
  if (paper()) out.width = Width::kFull;
  return out;
}

ScaledTensor ScalePropagation::match_columns(const ScaledTensor& a, float common) const {
  if (a.col_scale.empty()) return a;
  ScaledTensor out = operand(a);
  const float least = paper() || common == 0 ? std::ranges::min(a.col_scale) : common;
  for (int j = 0; j < a.cols; ++j) {
    const Match match(paper(), a.col_scale[j], least);
    for (int i = 0; i < a.rows; ++i) out.row(i)[j] = match(out.row(i)[j]);
  }
  for (float& s : out.row_scale) s *= least;
  out.col_scale.clear();
  return out;
}

// A row of zeros has no say in the scale.
ScaledTensor ScalePropagation::match_rows(const ScaledTensor& a) const {
  ScaledTensor out = operand(a);
  float least = kNoScale;
  for (int i = 0; i < a.rows; ++i) {
    if (out.max_abs(i) > 0) least = std::min(least, out.row_scale[i]);
  }
  if (least == kNoScale) least = 1;
  for (int i = 0; i < a.rows; ++i) {
    const Match match(paper(), std::max(out.row_scale[i], least), least);
    std::transform(out.row(i), out.row(i) + a.cols, out.row(i), match);
    out.row_scale[i] = least;
  }
  return out;
}

}  // namespace octavo
