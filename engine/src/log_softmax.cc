#include "log_softmax.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace octavo {

// x = k·ln2 + r with |r| <= ln2/2; e^r by its Taylor polynomial, 2^k by the exponent bits.
float exact_exp(float x) {
  if (x < -87.0f) return 0.0f;
  const int32_t k = static_cast<int32_t>(x * 1.44269504f - 0.5f);  // rounds to nearest, as x <= 0
  const float kf = static_cast<float>(k);
  const float r = (x - kf * 0.693359375f) + kf * 2.12194440e-4f;  // ln2 in two parts: the first product is exact
  float p = 1.0f / 720.0f;
  p = p * r + 1.0f / 120.0f;
  p = p * r + 1.0f / 24.0f;
  p = p * r + 1.0f / 6.0f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  return p * std::bit_cast<float>((k + 127) << 23);
}

// x = 2^k·m with m in [√½, √2); ln m = 2·artanh((m-1)/(m+1)) by its series.
float exact_log(float x) {
  const int32_t bits = std::bit_cast<int32_t>(x);
  int32_t k = (bits >> 23) - 127;
  float m = std::bit_cast<float>((bits & 0x7fffff) | 0x3f800000);
  if (m > 1.41421356f) {
    m *= 0.5f;
    k += 1;
  }
  const float t = (m - 1.0f) / (m + 1.0f), t2 = t * t;
  float p = 1.0f / 11.0f;
  p = p * t2 + 1.0f / 9.0f;
  p = p * t2 + 1.0f / 7.0f;
  p = p * t2 + 1.0f / 5.0f;
  p = p * t2 + 1.0f / 3.0f;
  p = p * t2 + 1.0f;
  return 2.0f * t * p + static_cast<float>(k) * 0.69314718f;
}

void log_softmax(float* x, int n) {
  float top = x[0];
  for (int j = 1; j < n; ++j) top = std::max(top, x[j]);
  float sums[4] = {0, 0, 0, 0};
  for (int j = 0; j < n; j += 4) {
    for (int lane = 0; lane < 4; ++lane) sums[lane] += exact_exp(x[j + lane] - top);
  }
  const float log_sum = top + exact_log((sums[0] + sums[1]) + (sums[2] + sums[3]));
  for (int j = 0; j < n; ++j) x[j] -= log_sum;
}

}  // namespace octavo
