// The specification of every kernel function, in plain C++.
#include <algorithm>
#include <cstdlib>

#include "fixed_point.h"
#include "kernels/kernel.h"

namespace octavo {
namespace {

int32_t max_abs(const int32_t* x, int n) {
  int32_t max = 0;
  for (int i = 0; i < n; ++i) max = std::max(max, std::abs(x[i]));
  return max;
}

void product(const int8_t* a, const uint8_t* panels, int32_t* c, int m, int k, int n, void*, int32_t* max) {
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      int32_t sum = 0;
      for (int t = 0; t < k; ++t) sum += a[i * k + t] * (panels[panel_index(j, t, k)] - kWeightOffset);
      c[i * n + j] = sum;
    }
    max[i] = max_abs(c + i * n, n);
  }
}

void unpack_row(const uint8_t* panels, int j, int k, int8_t* out) {
  for (int t = 0; t < k; ++t) out[t] = static_cast<int8_t>(panels[panel_index(j, t, k)] - kWeightOffset);
}

int32_t write_back(const int32_t* acc, const WriteBack& how, int16_t* y, int n) {
  int32_t max = 0;
  for (int j = 0; j < n; ++j) {
    int32_t v = multiply_q15(multiply_q15(rounding_shift(acc[j], how.shift), how.column[j]), how.m);
    v += multiply_q15(how.bias[j], how.m_bias);
    if (how.residual != nullptr) v += multiply_q15(how.residual[j] * 64, how.m_residual);
    if (how.nonlinearity == Nonlinearity::kRelu) v = std::max(v, 0);
    y[j] = static_cast<int16_t>(v);
    max = std::max(max, std::abs(v));
  }
  return max;
}

int32_t match_add(const int16_t* a, int32_t m_a, const int16_t* b, int32_t m_b, int16_t* y, int n) {
  int32_t max = 0;
  for (int j = 0; j < n; ++j) {
    const int32_t v = multiply_q15(a[j], m_a) + multiply_q15(b[j], m_b);
    y[j] = static_cast<int16_t>(v);
    max = std::max(max, std::abs(v));
  }
  return max;
}

void widen(const int8_t* x, int shift, int16_t* y, int n) {
  for (int j = 0; j < n; ++j) y[j] = static_cast<int16_t>(x[j] * (1 << shift));
}

void rescale(const int16_t* x, int32_t m, int8_t* y, int n) {
  for (int j = 0; j < n; ++j) y[j] = static_cast<int8_t>(multiply_q15(x[j], m));
}

int32_t centre(const int8_t* x, int32_t* c, int n) {
  int32_t sum = 0;
  for (int j = 0; j < n; ++j) sum += x[j];
  for (int j = 0; j < n; ++j) c[j] = n * x[j] - sum;
  return max_abs(c, n);
}

int32_t gain(const int32_t* c, int shift, const int16_t* gain, int16_t* y, int n) {
  int32_t sum = 0;
  for (int j = 0; j < n; ++j) {
    const int32_t narrow = rounding_shift(c[j], shift);
    const int32_t v = multiply_q15(narrow, std::abs(gain[j]));
    y[j] = static_cast<int16_t>(gain[j] < 0 ? -v : v);
    sum += std::abs(narrow);
  }
  return sum;
}

int32_t scores(const int8_t* q, const int8_t* keys, int stride, int count, int width, int32_t* out) {
  for (int j = 0; j < count; ++j, keys += stride) {
    out[j] = 0;
    for (int c = 0; c < width; ++c) out[j] += q[c] * keys[c];
  }
  return max_abs(out, count);
}

int32_t shifted_relu(const int32_t* x, int shift, const uint16_t* match, int32_t m, int32_t b, int16_t* y, int count) {
  int32_t max = 0;
  for (int j = 0; j < count; ++j) {
    const int32_t v = std::max(multiply_q15(multiply_q15(rounding_shift(x[j], shift), match[j]), m) + b, 0);
    y[j] = static_cast<int16_t>(v);
    max = std::max(max, v);
  }
  std::fill(y + count, y + padded_keys(count), int16_t{0});
  return max;
}

int32_t weigh(const int8_t* v, int degree, int32_t delta, int shift, const uint16_t* match, int16_t* y, int32_t* sum,
              int count) {
  int32_t max = 0;
  *sum = 0;
  for (int j = 0; j < count; ++j) {
    const int32_t narrow = rounding_shift(polynomial_power(v[j], degree) + delta, shift);
    *sum += narrow;
    y[j] = static_cast<int16_t>(multiply_q15(narrow, match[j]));
    max = std::max<int32_t>(max, y[j]);
  }
  std::fill(y + count, y + padded_keys(count), int16_t{0});
  return max;
}

int32_t weighted_sum(const int8_t* w, const int8_t* values, int stride, int count, int width, int32_t* out) {
  std::fill(out, out + width, 0);
  for (int j = 0; j < count; ++j, values += stride) {
    for (int c = 0; c < width; ++c) out[c] += w[j] * values[c];
  }
  return max_abs(out, width);
}

int32_t narrow(const int32_t* x, int shift, int32_t m, int16_t* y, int n) {
  int32_t max = 0;
  for (int j = 0; j < n; ++j) {
    y[j] = static_cast<int16_t>(multiply_q15(rounding_shift(x[j], shift), m));
    max = std::max<int32_t>(max, std::abs(y[j]));
  }
  return max;
}

int32_t logits(const int32_t* acc, int shift, const uint16_t* column, int32_t* out, int n) {
  int32_t best = 0;
  for (int j = 0; j < n; ++j) {
    out[j] = rounding_shift(acc[j], shift) * column[j];
    if (out[j] > out[best]) best = j;
  }
  return best;
}

}  // namespace

const Kernel kReferenceKernel = {"reference", product, unpack_row,   write_back, match_add,    widen,  rescale, centre,
                                 gain,        scores,  shifted_relu, weigh,      weighted_sum, narrow, logits};

}  // namespace octavo
