// The relaxed kernel: i16x8.relaxed_dot_i8x16_i7x16_s multiplies sixteen INT8 activations with sixteen 7-bit weights at
// once.
#if !defined(__wasm__) || defined(__wasm_relaxed_simd__)

#include <algorithm>

#include "kernels/kernel.h"
#include "kernels/simd.h"
#include "kernels/simd_rows.h"

namespace octavo {
namespace {

constexpr int kChunk = 64;

// -64·Σx, what undoes the weights' offset.
int32_t offset_of_row(const int8_t* x, int k) {
  v128_t sum = wasm_i32x4_splat(0);
  for (int j = 0; j < k; j += 16) {
    sum =
        wasm_i32x4_add(sum, wasm_i32x4_extadd_pairwise_i16x8(wasm_i16x8_extadd_pairwise_i8x16(wasm_v128_load(x + j))));
  }
  return -kWeightOffset * (wasm_i32x4_extract_lane(sum, 0) + wasm_i32x4_extract_lane(sum, 1) +
                           wasm_i32x4_extract_lane(sum, 2) + wasm_i32x4_extract_lane(sum, 3));
}

template <int kRows, int kPanels>
void tile(const int8_t* a, const int32_t* start, const uint8_t* panels, int32_t* c, int k, int n) {
  v128_t acc[kRows][kPanels * 2];
  for (int r = 0; r < kRows; ++r) {
    for (int p = 0; p < kPanels * 2; ++p) acc[r][p] = wasm_i32x4_splat(start[r]);
  }
  const v128_t ones = wasm_i16x8_splat(1);
  for (int i = 0; i < k; i += 4) {
    for (int p = 0; p < kPanels * 2; ++p) {
      const v128_t w = wasm_v128_load(panels + (p / 2) * static_cast<int64_t>(kPanel) * k + i * kPanel + (p % 2) * 16);
      for (int r = 0; r < kRows; ++r) {
        const v128_t x = wasm_v128_load32_splat(a + static_cast<int64_t>(r) * k + i);
        // Widening by a dot with ones, not by the fused 32-bit dot: without VNNI that one is lowered to the same and a
        // constant.
        acc[r][p] = wasm_i32x4_add(acc[r][p], wasm_i32x4_dot_i16x8(dot_pairs(x, w), ones));
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int p = 0; p < kPanels * 2; ++p) wasm_v128_store(c + static_cast<int64_t>(r) * n + 4 * p, acc[r][p]);
  }
}

void product(const int8_t* a, const uint8_t* panels, int32_t* c, int m, int k, int n, void*) {
  int32_t start[kChunk];
  for (int first = 0; first < m; first += kChunk) {
    const int rows = std::min(kChunk, m - first);
    const int8_t* x = a + static_cast<int64_t>(first) * k;
    for (int r = 0; r < rows; ++r) start[r] = offset_of_row(x + static_cast<int64_t>(r) * k, k);
    int j = 0;
    if (rows == 1) {
      for (; j + 2 * kPanel <= n; j += 2 * kPanel) {
        tile<1, 2>(x, start, panels + static_cast<int64_t>(j) * k, c + static_cast<int64_t>(first) * n + j, k, n);
      }
    }
    for (; j < n; j += kPanel) {
      const uint8_t* panel = panels + static_cast<int64_t>(j) * k;
      int r = 0;
      for (; r + 4 <= rows; r += 4) {
        tile<4, 1>(x + static_cast<int64_t>(r) * k, start + r, panel, c + static_cast<int64_t>(first + r) * n + j, k,
                   n);
      }
      for (; r < rows; ++r) {
        tile<1, 1>(x + static_cast<int64_t>(r) * k, start + r, panel, c + static_cast<int64_t>(first + r) * n + j, k,
                   n);
      }
    }
  }
}

}  // namespace

const Kernel kRelaxedKernel = {
    "relaxed",   product,       simd::unpack_row,   simd::max_abs, simd::write_back, simd::match_add,
    simd::widen, simd::rescale, simd::centre,       simd::gain,    simd::scores,     simd::shifted_relu,
    simd::power, simd::weigh,   simd::weighted_sum, simd::narrow,  simd::logits};

}  // namespace octavo

#endif
