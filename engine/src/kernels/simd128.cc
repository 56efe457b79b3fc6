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

  // Activations as INT16, each four reordered to (0, 2, 1, 3): sixteen weight bytes split into even and odd ones by one
  // mask and one shift, and each half then meets the pair of activations it belongs to.
  static const int16_t* prepare(const int8_t* a, int rows, int k, void* scratch, int32_t* start) {
    auto* packed = static_cast<int16_t*>(scratch);
    for (int64_t r = 0; r < rows; ++r) {
      v128_t sum = wasm_i32x4_splat(0);
      for (int64_t j = r * k; j < (r + 1) * k; j += 8) {
        const v128_t wide = wasm_i16x8_load8x8(a + j);
        sum = wasm_i32x4_add(sum, wasm_i32x4_extadd_pairwise_i16x8(wide));
        wasm_v128_store(packed + j, wasm_i16x8_shuffle(wide, wide, 0, 2, 1, 3, 4, 6, 5, 7));
      }
      start[r] = -kWeightOffset * simd::add_lanes(sum);
    }
    return packed;
  }

  struct Weights {
    v128_t even, odd;
  };
  const v128_t low_bytes = simd::in_register16(0x00ff);
  Weights load(const uint8_t* bytes) const {
    const v128_t w = wasm_v128_load(bytes);
    return {wasm_v128_and(w, low_bytes), wasm_u16x8_shr(w, 8)};
  }

  static v128_t add_products(v128_t acc, const Weights& w, const int16_t* x) {
    acc = wasm_i32x4_add(acc, wasm_i32x4_dot_i16x8(w.even, wasm_v128_load32_splat(x)));
    return wasm_i32x4_add(acc, wasm_i32x4_dot_i16x8(w.odd, wasm_v128_load32_splat(x + 2)));
  }
};

}  // namespace

const Kernel kSimd128Kernel = simd::kernel_with("simd128", simd::tiled_product<Step>);

}  // namespace octavo
