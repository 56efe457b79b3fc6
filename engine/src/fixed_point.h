// The integer arithmetic of scale propagation, defined once. Every kernel computes exactly these functions.
//
// Between operations a tensor is INT8. Inside one it is a *wide row*: INT16 elements of at most 13 bits and one scale.
// Thirteen bits leave six below an INT8 result, and the sum of up to four wide rows still fits INT16 (4·8191 = 32764).
//
// A ratio of scales (<= 1) is a Q15 multiplier m in 0..32767 standing for m/32768. Rounding is to nearest, halves away
// from zero, so that f(-x) = -f(x). For |x| <= 16384, which covers every wide row, multiplying by 32767 gives x itself:
// that is our "one".
#pragma once

#include <bit>
#include <cstdint>

namespace octavo {

constexpr int kWideBits = 13;
constexpr int32_t kWideMax = (1 << kWideBits) - 1;
constexpr int32_t kOneQ15 = 32767;

// round(x / 2^shift); a negative shift multiplies.
// Range: |x| + 2^(shift-1) < 2^31 for shift > 0; |x|·2^-shift < 2^31 otherwise.
constexpr int32_t rounding_shift(int32_t x, int shift) {
  if (shift <= 0) return x * (1 << -shift);
  const int32_t magnitude = ((x < 0 ? -x : x) + (1 << (shift - 1))) >> shift;
  return x < 0 ? -magnitude : magnitude;
}

// round(x·m / 2^15). Range: |x| <= 32767 and 0 <= m <= 32767, so |x|·m + 2^14 < 2^31 and |result| <= |x|.
constexpr int32_t multiply_q15(int32_t x, int32_t m) {
  const int32_t magnitude = ((x < 0 ? -x : x) * m + (1 << 14)) >> 15;
  return x < 0 ? -magnitude : magnitude;
}

// The shift that brings a row with this maximum to exactly kWideBits bits (left if there is room): rounding_shift(max,
// shift) is in 4096..8191 for every max > 0.
constexpr int narrowing_shift(int32_t max) {
  if (max == 0) return 0;
  const int shift = static_cast<int>(std::bit_width(static_cast<uint32_t>(max))) - kWideBits;
  return rounding_shift(max, shift) > kWideMax ? shift + 1 : shift;
}

// v^degree of the polynomial attention, for v in 0..127 and degree 1..5. Before the fifth power v⁴ is
// shifted right by 7. Range: 127⁴ < 2^28, and 127⁵/2^7 too.
constexpr int32_t polynomial_power(int32_t v, int degree) {
  int32_t x = v;
  for (int d = 2; d <= degree; ++d) x = (d == 5 ? rounding_shift(x, 7) : x) * v;
  return x;
}

static_assert(multiply_q15(16384, kOneQ15) == 16384 && multiply_q15(-8191, kOneQ15) == -8191);

// The scale of a product, held from below. Scales of a file are checked one by one, but those of a hostile one,
// multiplied from layer to layer, would come to 0 in the end; no trained network has numbers of 2^60. From here on none
// does: a layer takes less than 2^-50 off before the next product, so that no scale is ever 0 or subnormal.
inline float held_scale(float scale) { return scale > 0x1p-60f ? scale : 0x1p-60f; }

// a / b as a Q15 multiplier, for 0 < a <= b. Scales are positive and finite (the model file is checked, products are
// held), so no NaN arises.
inline int32_t ratio_q15(float a, float b) {
  const int32_t m = static_cast<int32_t>(a / b * 32768.0f + 0.5f);
  return m < kOneQ15 ? m : kOneQ15;
}

// The re-scaling multiplier of R: the largest m with multiply_q15(max, m) <= limit; a row that already fits is kept as
// it is. Range: max <= 32767, limit <= 511, so limit·2^15 < 2^24.
constexpr int32_t rescale_multiplier(int32_t max, int32_t limit) {
  return max <= limit ? kOneQ15 : limit * 32768 / max;
}

// The scale that goes with x·m or x·2^-shift: what x stands for does not change.
inline float scaled_q15(float scale, int32_t m) {
  return m == kOneQ15 ? scale : scale * (static_cast<float>(m) * (1.0f / 32768.0f));
}
inline float scaled_shift(float scale, int shift) {
  return shift >= 0 ? scale / static_cast<float>(1u << shift) : scale * static_cast<float>(1u << -shift);
}

}  // namespace octavo
