// The rounding of scale propagation on INT64, and scale matching of single elements: what the
// operations of scale_propagation.h are made of. Always to nearest, halves away from zero.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "fixed_point.h"

namespace octavo {

// round(x / d) for d > 0 and |x| + d/2 < 2^63.
inline int64_t rounded_quotient(int64_t x, int64_t d) {
  const int64_t magnitude = (std::abs(x) + d / 2) / d;
  return x < 0 ? -magnitude : magnitude;
}

// rounding_shift of fixed_point.h for |x| < 2^62.
inline int64_t shifted(int64_t x, int shift) {
  if (shift <= 0) return x * (int64_t{1} << -shift);
  const int64_t magnitude = (std::abs(x) + (int64_t{1} << (shift - 1))) >> shift;
  return x < 0 ? -magnitude : magnitude;
}

// narrowing_shift of fixed_point.h for max < 2^62.
inline int narrowing(int64_t max) {
  if (max == 0) return 0;
  const int shift = static_cast<int>(std::bit_width(static_cast<uint64_t>(max))) - kWideBits;
  return shifted(max, shift) > kWideMax ? shift + 1 : shift;
}

// multiply_q15 of fixed_point.h: |x| <= 32767, so INT32 it is.
inline int64_t times_q15(int64_t x, int32_t m) { return multiply_q15(static_cast<int32_t>(x), m); }

// round(value) for |value| < 2^62.
inline int64_t to_integer(float value) { return static_cast<int64_t>(value < 0 ? value - 0.5f : value + 0.5f); }

// M of elements with one scale to a smaller one: x / ⌈s/s̄⌉, or x times s̄/s as a Q15 multiplier.
class Match {
 public:
  Match(bool paper, float from, float to)
      // The quotient of two floats in double is on the right side of every whole number.
      : divisor_(paper ? static_cast<int64_t>(std::ceil(std::min(double{from} / to, 0x1p60))) : 0),
        multiplier_(paper ? 0 : ratio_q15(to, from)) {}
  int64_t operator()(int64_t x) const {
    return divisor_ > 0 ? rounded_quotient(x, divisor_) : times_q15(x, multiplier_);
  }

 private:
  int64_t divisor_;
  int32_t multiplier_;
};

}  // namespace octavo
