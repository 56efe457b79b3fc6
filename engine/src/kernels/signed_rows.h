// The part of a Step (tiled_product.h) that the relaxed and the fused kernel share: INT8 activations and offset weights
// are used as they are.
#pragma once

#include <cstdint>

#include "kernels/kernel.h"
#include "kernels/simd.h"

namespace octavo::simd {

struct SignedRows {
  using Element = int8_t;
  using Weights = v128_t;
  static constexpr int kSinglePanels = 4;

  static const int8_t* prepare(const int8_t* a, int rows, int k, void*, int32_t* start) {
    for (int64_t r = 0; r < rows; ++r) {
      v128_t sum = wasm_i32x4_splat(0);
      for (int64_t j = r * k; j < (r + 1) * k; j += 16) {
        const v128_t pairs = wasm_i16x8_extadd_pairwise_i8x16(wasm_v128_load(a + j));
        sum = wasm_i32x4_add(sum, wasm_i32x4_extadd_pairwise_i16x8(pairs));
      }
      start[r] = -kWeightOffset * add_lanes(sum);
    }
    return a;
  }

  static v128_t load(const uint8_t* bytes) { return wasm_v128_load(bytes); }
};

}  // namespace octavo::simd
