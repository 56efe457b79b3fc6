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
#endif

namespace simd {

inline int32_t add_lanes(v128_t x) {
  x = wasm_i32x4_add(x, wasm_i64x2_shuffle(x, x, 1, 0));
  x = wasm_i32x4_add(x, wasm_i32x4_shuffle(x, x, 1, 0, 3, 2));
  return wasm_i32x4_extract_lane(x, 0);
}

}  // namespace simd
}  // namespace octavo
