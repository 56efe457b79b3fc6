// Each function computes what its namesake in reference.cc does, eight elements at a time. Signs are taken off before
// rounding and put back after it, which makes "halves away from zero" of the rounding that SIMD has (halves up).
#include "kernels/simd_rows.h"

#include <algorithm>

#include "fixed_point.h"
#include "kernels/simd.h"

namespace octavo::simd {
namespace {

v128_t load(const void* p) { return wasm_v128_load(p); }
v128_t splat16(int32_t x) { return wasm_i16x8_splat(static_cast<int16_t>(x)); }

// round(x·m/2^15) for x >= 0: the rounding of the instruction, halves up, is then ours. (Its relaxed form differs from
// the other only where both operands are -32768.)
v128_t multiply_magnitude(v128_t x, v128_t m) {
#ifdef __wasm_relaxed_simd__
  return wasm_i16x8_relaxed_q15mulr(x, m);
#else
  return wasm_i16x8_q15mulr_sat(x, m);
#endif
}

// x with the sign that is given as 0 or -1.
v128_t with_sign(v128_t x, v128_t sign) { return wasm_i16x8_sub(wasm_v128_xor(x, sign), sign); }

v128_t multiply_q15(v128_t x, v128_t m) {
  return with_sign(multiply_magnitude(wasm_i16x8_abs(x), m), wasm_i16x8_shr(x, 15));
}

// rounding_shift of INT32. The direction of the shift is a template parameter of the loops below, because neither
// direction should pay for the other.
struct Shift {
  explicit Shift(int shift)
      : count(static_cast<uint32_t>(shift > 0 ? shift : -shift)),
        half(wasm_i32x4_splat(shift > 0 ? 1 << (shift - 1) : 0)) {}
  // Of four numbers that are not negative.
  template <bool kRight>
  v128_t magnitude(v128_t x) const {
    return kRight ? wasm_u32x4_shr(wasm_i32x4_add(x, half), count) : wasm_i32x4_shl(x, count);
  }
  // Of eight numbers, |x·2^-shift| <= 32767: their magnitudes as INT16.
  template <bool kRight>
  v128_t narrow(v128_t low, v128_t high) const {
    return wasm_i16x8_narrow_i32x4(magnitude<kRight>(wasm_i32x4_abs(low)), magnitude<kRight>(wasm_i32x4_abs(high)));
  }
  uint32_t count;
  v128_t half;
};

// Calls one of two versions of a loop.
template <class Loop>
auto with_direction(int shift, Loop loop) {
  return shift > 0 ? loop.template operator()<true>() : loop.template operator()<false>();
}

// The signs of eight INT32, as INT16.
v128_t signs(v128_t low, v128_t high) { return wasm_i16x8_shr(wasm_i16x8_narrow_i32x4(low, high), 15); }

// All ones in the first `count` of eight lanes; in all of them from eight on.
v128_t first_lanes(int count) {
  return wasm_i16x8_lt(wasm_i16x8_make(0, 1, 2, 3, 4, 5, 6, 7), splat16(std::min(count, 8)));
}

int32_t reduce_max16(v128_t x) {
  x = wasm_i16x8_max(x, wasm_i64x2_shuffle(x, x, 1, 0));
  x = wasm_i16x8_max(x, wasm_i32x4_shuffle(x, x, 1, 0, 3, 2));
  x = wasm_i16x8_max(x, wasm_i16x8_shuffle(x, x, 1, 0, 3, 2, 5, 4, 7, 6));
  return wasm_i16x8_extract_lane(x, 0);
}

// Four sums of four lanes each.
v128_t transpose_add(v128_t a, v128_t b, v128_t c, v128_t d) {
  const v128_t ab = wasm_i32x4_add(wasm_i32x4_shuffle(a, b, 0, 4, 2, 6), wasm_i32x4_shuffle(a, b, 1, 5, 3, 7));
  const v128_t cd = wasm_i32x4_add(wasm_i32x4_shuffle(c, d, 0, 4, 2, 6), wasm_i32x4_shuffle(c, d, 1, 5, 3, 7));
  return wasm_i32x4_add(wasm_i64x2_shuffle(ab, cd, 0, 2), wasm_i64x2_shuffle(ab, cd, 1, 3));
}

template <bool kRight, bool kResidual, bool kRelu>
int32_t write_back_as(const int32_t* acc, const WriteBack& how, int16_t* y, int n) {
  const Shift shift(how.shift);
  const v128_t m = splat16(how.m), m_bias = splat16(how.m_bias), m_residual = splat16(how.m_residual);
  v128_t max = splat16(0);
  for (int j = 0; j < n; j += 8) {
    const v128_t low = load(acc + j), high = load(acc + j + 4);
    // The sign waits until both multiplications are done.
    v128_t v = multiply_magnitude(multiply_magnitude(shift.narrow<kRight>(low, high), load(how.column + j)), m);
    v = wasm_i16x8_add(with_sign(v, signs(low, high)), multiply_q15(load(how.bias + j), m_bias));
    if constexpr (kResidual) {
      v = wasm_i16x8_add(v, multiply_q15(wasm_i16x8_shl(wasm_i16x8_load8x8(how.residual + j), 6), m_residual));
    }
    if constexpr (kRelu) v = wasm_i16x8_max(v, splat16(0));
    wasm_v128_store(y + j, v);
    max = wasm_i16x8_max(max, kRelu ? v : wasm_i16x8_abs(v));
  }
  return reduce_max16(max);
}

}  // namespace

void unpack_row(const uint8_t* panels, int j, int k, int8_t* out) {
  const uint8_t* row = panels + panel_index(j, 0, k);
  const v128_t offset = wasm_i8x16_splat(kWeightOffset);
  for (int t = 0; t < k; t += 16, row += 16 * kPanel) {  // four inputs of this output in every 4·kPanel bytes
    v128_t four = wasm_v128_load32_zero(row);
    four = wasm_v128_load32_lane(row + 4 * kPanel, four, 1);
    four = wasm_v128_load32_lane(row + 8 * kPanel, four, 2);
    four = wasm_v128_load32_lane(row + 12 * kPanel, four, 3);
    wasm_v128_store(out + t, wasm_i8x16_sub(four, offset));
  }
}

int32_t write_back(const int32_t* acc, const WriteBack& how, int16_t* y, int n) {
  return with_direction(how.shift, [&]<bool kRight>() {
    if (how.residual != nullptr) return write_back_as<kRight, true, false>(acc, how, y, n);
    if (how.nonlinearity == Nonlinearity::kRelu) return write_back_as<kRight, false, true>(acc, how, y, n);
    return write_back_as<kRight, false, false>(acc, how, y, n);
  });
}

int32_t match_add(const int16_t* a, int32_t m_a, const int16_t* b, int32_t m_b, int16_t* y, int n) {
  const v128_t ma = splat16(m_a), mb = splat16(m_b);
  v128_t max = splat16(0);
  for (int j = 0; j < n; j += 8) {
    const v128_t v = wasm_i16x8_add(multiply_q15(load(a + j), ma), multiply_q15(load(b + j), mb));
    wasm_v128_store(y + j, v);
    max = wasm_i16x8_max(max, wasm_i16x8_abs(v));
  }
  return reduce_max16(max);
}

void widen(const int8_t* x, int shift, int16_t* y, int n) {
  for (int j = 0; j < n; j += 8)
    wasm_v128_store(y + j, wasm_i16x8_shl(wasm_i16x8_load8x8(x + j), static_cast<uint32_t>(shift)));
}

void rescale(const int16_t* x, int32_t m, int8_t* y, int n) {
  const v128_t mv = splat16(m);
  for (int j = 0; j < n; j += 16) {
    wasm_v128_store(y + j, wasm_i8x16_narrow_i16x8(multiply_q15(load(x + j), mv), multiply_q15(load(x + j + 8), mv)));
  }
}

int32_t centre(const int8_t* x, int32_t* c, int n) {
  v128_t sums = wasm_i32x4_splat(0);
  for (int j = 0; j < n; j += 16)
    sums = wasm_i32x4_add(sums, wasm_i32x4_extadd_pairwise_i16x8(wasm_i16x8_extadd_pairwise_i8x16(load(x + j))));
  const v128_t sum = wasm_i32x4_splat(add_lanes(sums)), factor = wasm_i32x4_splat(n);
  v128_t max = wasm_i32x4_splat(0);
  for (int j = 0; j < n; j += 8) {
    const v128_t wide = wasm_i16x8_load8x8(x + j);
    const v128_t low = wasm_i32x4_sub(wasm_i32x4_mul(wasm_i32x4_extend_low_i16x8(wide), factor), sum);
    const v128_t high = wasm_i32x4_sub(wasm_i32x4_mul(wasm_i32x4_extend_high_i16x8(wide), factor), sum);
    wasm_v128_store(c + j, low);
    wasm_v128_store(c + j + 4, high);
    max = wasm_i32x4_max(max, wasm_i32x4_max(wasm_i32x4_abs(low), wasm_i32x4_abs(high)));
  }
  return max_lanes(max);
}

int32_t gain(const int32_t* c, int shift, const int16_t* gain, int16_t* y, int n) {
  const Shift narrowed(shift);
  const v128_t ones = in_register16(1);
  return with_direction(shift, [&]<bool kRight>() {
    v128_t sums = wasm_i32x4_splat(0);
    for (int j = 0; j < n; j += 8) {
      const v128_t low = load(c + j), high = load(c + j + 4), g = load(gain + j);
      const v128_t v = narrowed.narrow<kRight>(low, high);
      const v128_t sign = wasm_v128_xor(signs(low, high), wasm_i16x8_shr(g, 15));
      wasm_v128_store(y + j, with_sign(multiply_magnitude(v, wasm_i16x8_abs(g)), sign));
      sums = wasm_i32x4_add(sums, wasm_i32x4_dot_i16x8(v, ones));
    }
    return add_lanes(sums);
  });
}

int32_t scores(const int8_t* q, const int8_t* keys, int stride, int count, int width, int32_t* out) {
  v128_t max = wasm_i32x4_splat(0);
  for (int j = 0; j < count; j += 4) {
    // Behind the end the last key is taken again, which changes no maximum.
    const int8_t* key[4];
    for (int r = 0; r < 4; ++r) key[r] = keys + static_cast<int64_t>(std::min(j + r, count - 1)) * stride;
    v128_t acc[4] = {wasm_i32x4_splat(0), wasm_i32x4_splat(0), wasm_i32x4_splat(0), wasm_i32x4_splat(0)};
    for (int c = 0; c < width; c += 8) {
      const v128_t x = wasm_i16x8_load8x8(q + c);
      for (int r = 0; r < 4; ++r) {
        acc[r] = wasm_i32x4_add(acc[r], wasm_i32x4_dot_i16x8(x, wasm_i16x8_load8x8(key[r] + c)));
      }
    }
    const v128_t four = transpose_add(acc[0], acc[1], acc[2], acc[3]);
    wasm_v128_store(out + j, four);
    max = wasm_i32x4_max(max, wasm_i32x4_abs(four));
  }
  return max_lanes(max);
}

int32_t shifted_relu(const int32_t* x, int shift, const uint16_t* match, int32_t m, int32_t b, int16_t* y, int count) {
  const Shift narrowed(shift);
  const v128_t mv = splat16(m), bv = splat16(b);
  return with_direction(shift, [&]<bool kRight>() {
    v128_t max = splat16(0);
    const int padded = padded_keys(count);
    for (int j = 0; j < padded; j += 8) {
      const v128_t low = load(x + j), high = load(x + j + 4);
      v128_t v = multiply_magnitude(multiply_magnitude(narrowed.narrow<kRight>(low, high), load(match + j)), mv);
      v = wasm_i16x8_max(wasm_i16x8_add(with_sign(v, signs(low, high)), bv), splat16(0));
      if (j + 8 > count) v = wasm_v128_and(v, first_lanes(count - j));
      wasm_v128_store(y + j, v);
      max = wasm_i16x8_max(max, v);
    }
    return reduce_max16(max);
  });
}

namespace {

// polynomial_power of eight numbers in 0..127.
template <int kDegree>
void power(v128_t v, v128_t& low, v128_t& high) {
  if constexpr (kDegree == 1) {
    low = wasm_i32x4_extend_low_i16x8(v);
    high = wasm_i32x4_extend_high_i16x8(v);
  } else if constexpr (kDegree <= 3) {
    const v128_t other = kDegree == 3 ? wasm_i16x8_mul(v, v) : v;  // 127² fits INT16
    low = wasm_i32x4_extmul_low_i16x8(v, other);
    high = wasm_i32x4_extmul_high_i16x8(v, other);
  } else {
    const v128_t square = wasm_i16x8_mul(v, v);
    low = wasm_i32x4_extmul_low_i16x8(square, square);
    high = wasm_i32x4_extmul_high_i16x8(square, square);
    if constexpr (kDegree == 5) {
      const v128_t half = wasm_i32x4_splat(64);
      low = wasm_i32x4_mul(wasm_u32x4_shr(wasm_i32x4_add(low, half), 7), wasm_i32x4_extend_low_i16x8(v));
      high = wasm_i32x4_mul(wasm_u32x4_shr(wasm_i32x4_add(high, half), 7), wasm_i32x4_extend_high_i16x8(v));
    }
  }
}

template <int kDegree>
int32_t weigh_as(const int8_t* v, int32_t delta, int shift, const uint16_t* match, int16_t* y, int32_t* sum,
                 int count) {
  const Shift narrowed(shift);
  const v128_t ones = in_register16(1), dv = wasm_i32x4_splat(delta);
  return with_direction(shift, [&]<bool kRight>() {
    v128_t max = splat16(0), sums = wasm_i32x4_splat(0);
    const int padded = padded_keys(count);
    for (int j = 0; j < padded; j += 8) {
      v128_t low, high;
      power<kDegree>(wasm_i16x8_load8x8(v + j), low, high);
      v128_t p = wasm_i16x8_narrow_i32x4(narrowed.magnitude<kRight>(wasm_i32x4_add(low, dv)),
                                         narrowed.magnitude<kRight>(wasm_i32x4_add(high, dv)));
      if (j + 8 > count) p = wasm_v128_and(p, first_lanes(count - j));
      sums = wasm_i32x4_add(sums, wasm_i32x4_dot_i16x8(p, ones));
      const v128_t w = multiply_magnitude(p, load(match + j));
      wasm_v128_store(y + j, w);
      max = wasm_i16x8_max(max, w);
    }
    *sum = add_lanes(sums);
    return reduce_max16(max);
  });
}

}  // namespace

int32_t weigh(const int8_t* v, int degree, int32_t delta, int shift, const uint16_t* match, int16_t* y, int32_t* sum,
              int count) {
  constexpr decltype(&weigh_as<1>) kOfDegree[] = {weigh_as<1>, weigh_as<2>, weigh_as<3>, weigh_as<4>, weigh_as<5>};
  return kOfDegree[degree - 1](v, delta, shift, match, y, sum, count);
}

namespace {

// Eight columns times kBlocks. Two keys are interleaved, so that one dot product adds both; an odd last key is paired
// with itself, at weight 0. Returns the largest |sum| in four lanes.
template <int kBlocks>
v128_t weighted_columns(const int8_t* w, const int8_t* values, int stride, int count, int32_t* out) {
  v128_t sum[2 * kBlocks];
  for (v128_t& s : sum) s = wasm_i32x4_splat(0);
  for (int j = 0; j < count; j += 2, values += 2 * static_cast<int64_t>(stride)) {
    const int8_t* next = j + 1 < count ? values + stride : values;
    const v128_t weights = wasm_i16x8_extend_low_i8x16(wasm_v128_load16_splat(w + j));
    for (int c = 0; c < kBlocks; ++c) {
      const v128_t a = wasm_i16x8_load8x8(values + 8 * c), b = wasm_i16x8_load8x8(next + 8 * c);
      const v128_t low = wasm_i16x8_shuffle(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
      const v128_t high = wasm_i16x8_shuffle(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
      sum[2 * c] = wasm_i32x4_add(sum[2 * c], wasm_i32x4_dot_i16x8(low, weights));
      sum[2 * c + 1] = wasm_i32x4_add(sum[2 * c + 1], wasm_i32x4_dot_i16x8(high, weights));
    }
  }
  v128_t max = wasm_i32x4_splat(0);
  for (int i = 0; i < 2 * kBlocks; ++i) {
    wasm_v128_store(out + 4 * i, sum[i]);
    max = wasm_i32x4_max(max, wasm_i32x4_abs(sum[i]));
  }
  return max;
}

}  // namespace

int32_t weighted_sum(const int8_t* w, const int8_t* values, int stride, int count, int width, int32_t* out) {
  v128_t max = wasm_i32x4_splat(0);
  int c = 0;
  for (; c + 32 <= width; c += 32) {
    max = wasm_i32x4_max(max, weighted_columns<4>(w, values + c, stride, count, out + c));
  }
  for (; c < width; c += 8) {
    max = wasm_i32x4_max(max, weighted_columns<1>(w, values + c, stride, count, out + c));
  }
  return max_lanes(max);
}

int32_t narrow(const int32_t* x, int shift, int32_t m, int16_t* y, int n) {
  const Shift narrowed(shift);
  const v128_t mv = splat16(m);
  return with_direction(shift, [&]<bool kRight>() {
    v128_t max = splat16(0);
    for (int j = 0; j < n; j += 8) {
      const v128_t low = load(x + j), high = load(x + j + 4);
      const v128_t v = multiply_magnitude(narrowed.narrow<kRight>(low, high), mv);
      wasm_v128_store(y + j, with_sign(v, signs(low, high)));
      max = wasm_i16x8_max(max, v);
    }
    return reduce_max16(max);
  });
}

int32_t logits(const int32_t* acc, int shift, const uint16_t* column, int32_t* out, int n) {
  const Shift narrowed(shift);
  return with_direction(shift, [&]<bool kRight>() {
    v128_t max = wasm_i32x4_splat(INT32_MIN);
    for (int j = 0; j < n; j += 4) {
      const v128_t a = load(acc + j), sign = wasm_i32x4_shr(a, 31);
      const v128_t v = wasm_i32x4_sub(wasm_v128_xor(narrowed.magnitude<kRight>(wasm_i32x4_abs(a)), sign), sign);
      const v128_t x = wasm_i32x4_mul(v, wasm_u32x4_load16x4(column + j));
      wasm_v128_store(out + j, x);
      max = wasm_i32x4_max(max, x);
    }
    const v128_t top = wasm_i32x4_splat(max_lanes(max));
    int j = 0;
    while (!wasm_v128_any_true(wasm_i32x4_eq(load(out + j), top))) j += 4;
    while (out[j] != wasm_i32x4_extract_lane(top, 0)) ++j;
    return j;
  });
}

}  // namespace octavo::simd
