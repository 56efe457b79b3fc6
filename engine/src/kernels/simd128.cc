// The simd128 kernel: weights and activations meet as INT16 in i32x4.dot_i16x8_s.
#include "kernels/kernel.h"
#include "kernels/simd.h"
#include "kernels/simd_rows.h"
#include "kernels/tiled_product.h"

namespace octavo {
namespace {

struct Step {
  using Element = int16_t;
  static constexpr int kSinglePanels = 2;

  // Sixteen weight bytes are eight INT16 words p = u0 + 256·u1, and one shift splits off u1; so instead of u0·x0 +
  // u1·x1 each word adds p·x0 + u1·(x1 - 256·x0). Activations are prepared for that: of each four, (x0, x2), (x1, x3).
  // Range: |x1 - 256·x0| <= 257·127 < 2^15. Sums may wrap on the way; their total, known to fit, does not.
  static const int16_t* prepare(const int8_t* a, int rows, int k, void* scratch, int32_t* start) {
    auto* packed = static_cast<int16_t*>(scratch);
    for (int64_t r = 0; r < rows; ++r) {
      v128_t sum = wasm_i32x4_splat(0);
      for (int64_t j = r * k; j < (r + 1) * k; j += 8) {
        const v128_t wide = wasm_i16x8_load8x8(a + j);
        sum = wasm_i32x4_add(sum, wasm_i32x4_extadd_pairwise_i16x8(wide));
        const v128_t odd = wasm_i16x8_sub(wide, wasm_i32x4_shl(wide, 24));
        wasm_v128_store(packed + j, wasm_i16x8_shuffle(wide, odd, 0, 2, 9, 11, 4, 6, 13, 15));
      }
      start[r] = -kWeightOffset * simd::add_lanes(sum);
    }
    return packed;
  }

  struct Weights {
    v128_t both, odd;
  };
  static Weights load(const uint8_t* bytes) {
    const v128_t w = wasm_v128_load(bytes);
    return {w, wasm_u16x8_shr(w, 8)};
  }

  static v128_t add_products(v128_t acc, const Weights& w, const int16_t* x) {
    acc = wasm_i32x4_add(acc, wasm_i32x4_dot_i16x8(w.both, wasm_v128_load32_splat(x)));
    return wasm_i32x4_add(acc, wasm_i32x4_dot_i16x8(w.odd, wasm_v128_load32_splat(x + 2)));
  }
};

}  // namespace

const Kernel kSimd128Kernel = simd::kernel_with("simd128", simd::tiled_product<Step>);

}  // namespace octavo
