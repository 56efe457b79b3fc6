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

v128_t multiply_q15(v128_t x, v128_t m) {
  const v128_t sign = wasm_i16x8_shr(x, 15);
  return wasm_i16x8_sub(wasm_v128_xor(wasm_i16x8_q15mulr_sat(wasm_i16x8_abs(x), m), sign), sign);
}

// rounding_shift of four INT32.
struct Shift {
  explicit Shift(int shift) : right(shift > 0 ? shift : 0), left(shift < 0 ? -shift : 0) {
    half = wasm_i32x4_splat(right > 0 ? 1 << (right - 1) : 0);
  }
  v128_t operator()(v128_t x) const {
    if (right == 0) return wasm_i32x4_shl(x, static_cast<uint32_t>(left));
    const v128_t sign = wasm_i32x4_shr(x, 31);
    const v128_t magnitude = wasm_u32x4_shr(wasm_i32x4_add(wasm_i32x4_abs(x), half), static_cast<uint32_t>(right));
    return wasm_i32x4_sub(wasm_v128_xor(magnitude, sign), sign);
  }
  // Eight INT32 to a wide row.
  v128_t narrow(const int32_t* x) const { return wasm_i16x8_narrow_i32x4((*this)(load(x)), (*this)(load(x + 4))); }
  int right, left;
  v128_t half;
};

int32_t reduce_max16(v128_t x) {
  x = wasm_i16x8_max(x, wasm_i64x2_shuffle(x, x, 1, 0));
  x = wasm_i16x8_max(x, wasm_i32x4_shuffle(x, x, 1, 0, 3, 2));
  x = wasm_i16x8_max(x, wasm_i16x8_shuffle(x, x, 1, 0, 3, 2, 5, 4, 7, 6));
  return wasm_i16x8_extract_lane(x, 0);
}

int32_t reduce_max32(v128_t x) {
  x = wasm_i32x4_max(x, wasm_i64x2_shuffle(x, x, 1, 0));
  x = wasm_i32x4_max(x, wasm_i32x4_shuffle(x, x, 1, 0, 3, 2));
  return wasm_i32x4_extract_lane(x, 0);
}

// Four sums of four lanes each.
v128_t transpose_add(v128_t a, v128_t b, v128_t c, v128_t d) {
  const v128_t ab = wasm_i32x4_add(wasm_i32x4_shuffle(a, b, 0, 4, 2, 6), wasm_i32x4_shuffle(a, b, 1, 5, 3, 7));
  const v128_t cd = wasm_i32x4_add(wasm_i32x4_shuffle(c, d, 0, 4, 2, 6), wasm_i32x4_shuffle(c, d, 1, 5, 3, 7));
  return wasm_i32x4_add(wasm_i64x2_shuffle(ab, cd, 0, 2), wasm_i64x2_shuffle(ab, cd, 1, 3));
}

template <bool kResidual, bool kRelu>
int32_t write_back_as(const int32_t* acc, const WriteBack& how, int16_t* y, int n) {
  const Shift shift(how.shift);
  const v128_t m = splat16(how.m), m_bias = splat16(how.m_bias), m_residual = splat16(how.m_residual);
  v128_t max = splat16(0);
  for (int j = 0; j < n; j += 8) {
    v128_t v = multiply_q15(multiply_q15(shift.narrow(acc + j), load(how.column + j)), m);
    v = wasm_i16x8_add(v, multiply_q15(load(how.bias + j), m_bias));
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

int32_t max_abs(const int32_t* x, int n) {
  v128_t max = wasm_i32x4_splat(0);
  int j = 0;
  for (; j + 4 <= n; j += 4) max = wasm_i32x4_max(max, wasm_i32x4_abs(load(x + j)));
  int32_t result = reduce_max32(max);
  for (; j < n; ++j) result = std::max(result, std::abs(x[j]));
  return result;
}

int32_t write_back(const int32_t* acc, const WriteBack& how, int16_t* y, int n) {
  if (how.residual != nullptr) return write_back_as<true, false>(acc, how, y, n);
  if (how.nonlinearity == Nonlinearity::kRelu) return write_back_as<false, true>(acc, how, y, n);
  return write_back_as<false, false>(acc, how, y, n);
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
  int j = 0;
  for (; j + 16 <= n; j += 16) {
    wasm_v128_store(y + j, wasm_i8x16_narrow_i16x8(multiply_q15(load(x + j), mv), multiply_q15(load(x + j + 8), mv)));
  }
  for (; j < n; ++j) y[j] = static_cast<int8_t>(octavo::multiply_q15(x[j], m));
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
  return reduce_max32(max);
}

int32_t gain(const int32_t* c, int shift, const int16_t* gain, int16_t* y, int n) {
  const Shift narrowed(shift);
  const v128_t ones = splat16(1);
  v128_t sums = wasm_i32x4_splat(0);
  for (int j = 0; j < n; j += 8) {
    const v128_t v = narrowed.narrow(c + j), g = load(gain + j);
    const v128_t magnitude = wasm_i16x8_q15mulr_sat(wasm_i16x8_abs(v), wasm_i16x8_abs(g));
    const v128_t sign = wasm_i16x8_shr(wasm_v128_xor(v, g), 15);
    wasm_v128_store(y + j, wasm_i16x8_sub(wasm_v128_xor(magnitude, sign), sign));
    sums = wasm_i32x4_add(sums, wasm_i32x4_dot_i16x8(wasm_i16x8_abs(v), ones));
  }
  return add_lanes(sums);
}

void scores(const int8_t* q, const int8_t* keys, int stride, int count, int width, int32_t* out) {
  int j = 0;
  for (; j + 4 <= count; j += 4) {
    const int8_t* key = keys + static_cast<int64_t>(j) * stride;
    v128_t acc[4] = {wasm_i32x4_splat(0), wasm_i32x4_splat(0), wasm_i32x4_splat(0), wasm_i32x4_splat(0)};
    for (int c = 0; c < width; c += 8) {
      const v128_t x = wasm_i16x8_load8x8(q + c);
      for (int r = 0; r < 4; ++r) {
        acc[r] = wasm_i32x4_add(
            acc[r], wasm_i32x4_dot_i16x8(x, wasm_i16x8_load8x8(key + static_cast<int64_t>(r) * stride + c)));
      }
    }
    wasm_v128_store(out + j, transpose_add(acc[0], acc[1], acc[2], acc[3]));
  }
  for (; j < count; ++j) {
    const int8_t* key = keys + static_cast<int64_t>(j) * stride;
    v128_t acc = wasm_i32x4_splat(0);
    for (int c = 0; c < width; c += 8) {
      acc = wasm_i32x4_add(acc, wasm_i32x4_dot_i16x8(wasm_i16x8_load8x8(q + c), wasm_i16x8_load8x8(key + c)));
    }
    out[j] = add_lanes(acc);
  }
}

int32_t shifted_relu(const int32_t* x, int shift, const uint16_t* match, int32_t m, int32_t b, int16_t* y, int count) {
  const Shift narrowed(shift);
  const v128_t mv = splat16(m), bv = splat16(b);
  v128_t max = splat16(0);
  int j = 0;
  for (; j + 8 <= count; j += 8) {
    v128_t v = wasm_i16x8_add(multiply_q15(multiply_q15(narrowed.narrow(x + j), load(match + j)), mv), bv);
    v = wasm_i16x8_max(v, splat16(0));
    wasm_v128_store(y + j, v);
    max = wasm_i16x8_max(max, v);
  }
  int32_t top = reduce_max16(max);
  for (; j < count; ++j) {
    const int32_t v = octavo::multiply_q15(octavo::multiply_q15(rounding_shift(x[j], shift), match[j]), m) + b;
    y[j] = static_cast<int16_t>(std::max(v, 0));
    top = std::max<int32_t>(top, y[j]);
  }
  return top;
}

int32_t power(const int8_t* v, int degree, int32_t delta, int32_t* p, int count) {
  const v128_t dv = wasm_i32x4_splat(delta), half = wasm_i32x4_splat(64);
  v128_t max = wasm_i32x4_splat(0);
  int j = 0;
  for (; j + 4 <= count; j += 4) {
    const v128_t base = wasm_i32x4_make(v[j], v[j + 1], v[j + 2], v[j + 3]);
    v128_t x = base;
    for (int d = 2; d <= degree; ++d) {
      if (d == 5) x = wasm_u32x4_shr(wasm_i32x4_add(x, half), 7);
      x = wasm_i32x4_mul(x, base);
    }
    x = wasm_i32x4_add(x, dv);
    wasm_v128_store(p + j, x);
    max = wasm_i32x4_max(max, x);
  }
  int32_t top = reduce_max32(max);
  for (; j < count; ++j) {
    int32_t x = v[j];
    for (int d = 2; d <= degree; ++d) x = (d == 5 ? rounding_shift(x, 7) : x) * v[j];
    p[j] = x + delta;
    top = std::max(top, p[j]);
  }
  return top;
}

int32_t weigh(const int32_t* p, int shift, const uint16_t* match, int16_t* y, int32_t* sum, int count) {
  const Shift narrowed(shift);
  const v128_t ones = splat16(1);
  v128_t max = splat16(0), sums = wasm_i32x4_splat(0);
  int j = 0;
  for (; j + 8 <= count; j += 8) {
    const v128_t v = narrowed.narrow(p + j);
    sums = wasm_i32x4_add(sums, wasm_i32x4_dot_i16x8(v, ones));
    const v128_t w = multiply_q15(v, load(match + j));
    wasm_v128_store(y + j, w);
    max = wasm_i16x8_max(max, w);
  }
  int32_t top = reduce_max16(max), total = add_lanes(sums);
  for (; j < count; ++j) {
    const int32_t v = rounding_shift(p[j], shift);
    total += v;
    y[j] = static_cast<int16_t>(octavo::multiply_q15(v, match[j]));
    top = std::max<int32_t>(top, y[j]);
  }
  *sum = total;
  return top;
}

void weighted_sum(const int8_t* w, const int8_t* values, int stride, int count, int width, int32_t* out) {
  for (int c = 0; c < width; c += 8) {
    const int8_t* column = values + c;
    v128_t low = wasm_i32x4_splat(0), high = low;
    for (int j = 0; j < count; j += 2) {
      // Two keys at a time, interleaved so that one dot product adds both; an odd last key is paired with weight 0.
      const bool pair = j + 1 < count;
      const v128_t a = wasm_i16x8_load8x8(column + static_cast<int64_t>(j) * stride);
      const v128_t b = pair ? wasm_i16x8_load8x8(column + static_cast<int64_t>(j + 1) * stride) : a;
      const uint32_t weights = static_cast<uint32_t>(w[j]) | (pair ? static_cast<uint32_t>(w[j + 1]) << 16 : 0);
      const v128_t both = wasm_i32x4_splat(static_cast<int32_t>(weights));
      low = wasm_i32x4_add(low, wasm_i32x4_dot_i16x8(wasm_i16x8_shuffle(a, b, 0, 8, 1, 9, 2, 10, 3, 11), both));
      high = wasm_i32x4_add(high, wasm_i32x4_dot_i16x8(wasm_i16x8_shuffle(a, b, 4, 12, 5, 13, 6, 14, 7, 15), both));
    }
    wasm_v128_store(out + c, low);
    wasm_v128_store(out + c + 4, high);
  }
}

int32_t narrow(const int32_t* x, int shift, int32_t m, int16_t* y, int n) {
  const Shift narrowed(shift);
  const v128_t mv = splat16(m);
  v128_t max = splat16(0);
  for (int j = 0; j < n; j += 8) {
    const v128_t v = multiply_q15(narrowed.narrow(x + j), mv);
    wasm_v128_store(y + j, v);
    max = wasm_i16x8_max(max, wasm_i16x8_abs(v));
  }
  return reduce_max16(max);
}

int32_t logits(const int32_t* acc, int shift, const uint16_t* column, int32_t* out, int n) {
  const Shift narrowed(shift);
  v128_t max = wasm_i32x4_splat(INT32_MIN);
  for (int j = 0; j < n; j += 4) {
    const v128_t x = wasm_i32x4_mul(narrowed(load(acc + j)), wasm_u32x4_load16x4(column + j));
    wasm_v128_store(out + j, x);
    max = wasm_i32x4_max(max, x);
  }
  const v128_t top = wasm_i32x4_splat(reduce_max32(max));
  int j = 0;
  while (!wasm_v128_any_true(wasm_i32x4_eq(load(out + j), top))) j += 4;
  while (out[j] != wasm_i32x4_extract_lane(top, 0)) ++j;
  return j;
}

}  // namespace octavo::simd
