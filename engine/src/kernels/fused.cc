// The fused kernel: i32x4.relaxed_dot_i8x16_i7x16_add_s multiplies sixteen INT8 activations with sixteen 7-bit weights
// and adds them up. One instruction on CPUs with 8-bit dot products (VNNI, Arm's dotprod); on others the relaxed kernel
// does the same in fewer.
#if !defined(__wasm__) || defined(__wasm_relaxed_simd__)

#include "kernels/kernel.h"
#include "kernels/signed_rows.h"
#include "kernels/simd.h"
#include "kernels/simd_rows.h"
#include "kernels/tiled_product.h"

namespace octavo {
namespace {

struct Step : simd::SignedRows {
  static v128_t add_products(v128_t acc, v128_t w, const int8_t* x) {
    return dot_add(wasm_v128_load32_splat(x), w, acc);
  }
};

}  // namespace

const Kernel kFusedKernel = simd::kernel_with("fused", simd::tiled_product<Step>);

// Outside the range in which it is exact, the instruction shows how it is made: x86 without VNNI adds pairs in
// saturating 16 bits, so that 4·127·255 becomes 2·32767; with VNNI it is exact, and Arm takes the 255 for -1.
bool fused_dot_is_native() {
  const volatile int8_t activation = 127, weight = -1;
  const v128_t sum = dot_add(wasm_i8x16_splat(activation), wasm_i8x16_splat(weight), wasm_i32x4_splat(0));
  return wasm_i32x4_extract_lane(sum, 0) != 2 * 32767;
}

}  // namespace octavo

#endif
