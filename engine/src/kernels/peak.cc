#include "kernels/peak.h"

#include "kernels/simd.h"

namespace octavo::peak {
namespace {

// Enough independent sums to hide every latency; with the operands they fit sixteen registers.
constexpr int kSums = 12;
constexpr int kUnrolled = 4;

}  // namespace

extern v128_t sink;  // visible elsewhere: keeps the loops from being optimised away
v128_t sink;

namespace {

// sum = step(sum), the sum itself being one of the operands: no two steps are alike, so none can be left out.
template <class Step>
int64_t run(int times, int operations_per_step, Step step) {
  v128_t sum[kSums];
  for (int i = 0; i < kSums; ++i) sum[i] = wasm_i32x4_splat(i);
  for (int t = 0; t < times; ++t) {
    for (int unrolled = 0; unrolled < kUnrolled; ++unrolled) {
      for (int i = 0; i < kSums; ++i) sum[i] = step(sum[i]);
    }
  }
  for (int i = 1; i < kSums; ++i) sum[0] = wasm_v128_xor(sum[0], sum[i]);
  sink = sum[0];
  return int64_t{kSums} * kUnrolled * operations_per_step;
}

}  // namespace

int64_t compute(std::string_view kernel, int times) {
  if (kernel == "simd128") {
    const v128_t w = simd::in_register16(3);
    return run(times, 2 * 8, [&](v128_t x) { return wasm_i32x4_add(x, wasm_i32x4_dot_i16x8(x, w)); });
  }
#if !defined(__wasm__) || defined(__wasm_relaxed_simd__)
  if (kernel == "relaxed") {
    const v128_t w = simd::in_register16(0x0303), ones = simd::in_register16(1);
    return run(times, 2 * 16, [&](v128_t x) { return wasm_i32x4_add(x, wasm_i32x4_dot_i16x8(dot_pairs(x, w), ones)); });
  }
  if (kernel == "fused") {
    const v128_t w = simd::in_register16(0x0303);
    return run(times, 2 * 16, [&](v128_t x) { return dot_add(x, w, x); });
  }
#endif
  if (kernel == "float") {
    const volatile float half = 0.5f, one = 1.0f;
    const v128_t a = wasm_f32x4_splat(half), b = wasm_f32x4_splat(one);
#ifdef __wasm_relaxed_simd__
    return run(times, 2 * 4, [&](v128_t x) { return wasm_f32x4_relaxed_madd(x, a, b); });
#else
    return run(times, 2 * 4, [&](v128_t x) { return wasm_f32x4_add(wasm_f32x4_mul(x, a), b); });
#endif
  }
  return 0;
}

int32_t read(const std::byte* bytes, size_t count) {
  v128_t sum[8];
  for (v128_t& s : sum) s = wasm_i32x4_splat(0);
  for (size_t i = 0; i < count; i += 128) {
    for (size_t v = 0; v < 8; ++v) sum[v] = wasm_v128_or(sum[v], wasm_v128_load(bytes + i + 16 * v));
  }
  for (int v = 1; v < 8; ++v) sum[0] = wasm_v128_or(sum[0], sum[v]);
  return wasm_i32x4_extract_lane(sum[0], 0) | wasm_i32x4_extract_lane(sum[0], 3);
}

}  // namespace octavo::peak
