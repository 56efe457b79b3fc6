// The relaxed kernel: i16x8.relaxed_dot_i8x16_i7x16_s multiplies sixteen INT8 activations with sixteen 7-bit weights at
// once, and a dot product with ones widens the sums.
#if !defined(__wasm__) || defined(__wasm_relaxed_simd__)

#include "kernels/kernel.h"
#include "kernels/signed_rows.h"
#include "kernels/simd.h"
#include "kernels/simd_rows.h"
#include "kernels/tiled_product.h"

namespace octavo {
namespace {

struct Step : simd::SignedRows {
  const v128_t ones = simd::in_register16(1);
  v128_t add_products(v128_t acc, v128_t w, const int8_t* x) const {
    const v128_t pairs = dot_pairs(wasm_v128_load32_splat(x), w);
    return wasm_i32x4_add(acc, wasm_i32x4_dot_i16x8(pairs, ones));
  }
};

}  // namespace

const Kernel kRelaxedKernel = simd::kernel_with("relaxed", simd::tiled_product<Step>);

}  // namespace octavo

#endif
