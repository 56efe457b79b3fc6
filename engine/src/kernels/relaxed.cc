// The relaxed kernel: i16x8.relaxed_dot_i8x16_i7x16_s multiplies sixteen INT8 activations with sixteen 7-bit weights at
// once.
#if !defined(__wasm__) || defined(__wasm_relaxed_simd__)

#include "kernels/kernel.h"
#include "kernels/simd.h"
#include "kernels/simd_rows.h"
#include "kernels/tiled_product.h"

namespace octavo {
namespace {

struct Step {
  using Element = int8_t;
  using Weights = v128_t;

  // Activations are used as they are.
  static const int8_t* prepare(const int8_t* a, int rows, int k, void*, int32_t* start) {
    for (int64_t r = 0; r < rows; ++r) {
      v128_t sum = wasm_i32x4_splat(0);
      for (int64_t j = r * k; j < (r + 1) * k; j += 16) {
        const v128_t pairs = wasm_i16x8_extadd_pairwise_i8x16(wasm_v128_load(a + j));
        sum = wasm_i32x4_add(sum, wasm_i32x4_extadd_pairwise_i16x8(pairs));
      }
      start[r] = -kWeightOffset * simd::add_lanes(sum);
    }
    return a;
  }

  static v128_t load(const uint8_t* bytes) { return wasm_v128_load(bytes); }

  // Widened by a dot with ones, not by the fused 32-bit dot: without VNNI that one is lowered to the same and a
  // constant.
  static v128_t add_products(v128_t acc, v128_t w, const int8_t* x) {
    const v128_t pairs = dot_pairs(wasm_v128_load32_splat(x), w);
    return wasm_i32x4_add(acc, wasm_i32x4_dot_i16x8(pairs, wasm_i16x8_splat(1)));
  }
};

}  // namespace

const Kernel kRelaxedKernel = {"relaxed",          simd::tiled_product<Step>,
                               simd::unpack_row,   simd::max_abs,
                               simd::write_back,   simd::match_add,
                               simd::widen,        simd::rescale,
                               simd::centre,       simd::gain,
                               simd::scores,       simd::shifted_relu,
                               simd::power,        simd::weigh,
                               simd::weighted_sum, simd::narrow,
                               simd::logits};

}  // namespace octavo

#endif
