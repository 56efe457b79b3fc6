// WebAssembly's 128-bit SIMD: the compiler's own header in wasm, SIMDe's translation natively, so that the very kernels
// that ship also run under native sanitizers and fuzzers.
#pragma once

#include <cstdint>

#ifdef __wasm_simd128__
#include <wasm_simd128.h>
#else
#define SIMDE_ENABLE_NATIVE_ALIASES
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <simde/wasm/simd128.h>
#include <simde/x86/ssse3.h>
#pragma GCC diagnostic pop
#endif

namespace octavo {

#if !defined(__wasm__) || defined(__wasm_relaxed_simd__)
// Σ over pairs of a (INT8) times b (0..127), as i16x8. In that range every lowering of the relaxed instruction is
// exact: 2·128·127 = 32512 does not saturate, and the top bit of b, on whose meaning CPUs differ, is never set.
inline v128_t dot_pairs(v128_t a, v128_t b) {
#ifdef __wasm__
  return wasm_i16x8_relaxed_dot_i8x16_i7x16(a, b);
#else
  return simde_v128_from_m128i(simde_mm_maddubs_epi16(simde_v128_to_m128i(b), simde_v128_to_m128i(a)));
#endif
}

// acc + Σ over fours of a (INT8) times b (0..127), as i32x4; exact for the same reason.
inline v128_t dot_add(v128_t a, v128_t b, v128_t acc) {
#ifdef __wasm__
  return wasm_i32x4_relaxed_dot_i8x16_i7x16_add(a, b, acc);
#else
  return wasm_i32x4_add(acc, wasm_i32x4_dot_i16x8(dot_pairs(a, b), wasm_i16x8_splat(1)));
#endif
}
#endif

namespace simd {

// A constant for use in loops. V8 builds a v128.const anew wherever it is used, in up to four instructions, which can
// halve the speed of a loop; a splat of something that is read from memory stays in a register.
inline v128_t in_register16(int16_t x) {
  const volatile int16_t hidden = x;
  return wasm_i16x8_splat(hidden);
}

inline int32_t add_lanes(v128_t x) {
  x = wasm_i32x4_add(x, wasm_i64x2_shuffle(x, x, 1, 0));
  x = wasm_i32x4_add(x, wasm_i32x4_shuffle(x, x, 1, 0, 3, 2));
  return wasm_i32x4_extract_lane(x, 0);
}

inline int32_t max_lanes(v128_t x) {
  x = wasm_i32x4_max(x, wasm_i64x2_shuffle(x, x, 1, 0));
  x = wasm_i32x4_max(x, wasm_i32x4_shuffle(x, x, 1, 0, 3, 2));
  return wasm_i32x4_extract_lane(x, 0);
}

}  // namespace simd
}  // namespace octavo
