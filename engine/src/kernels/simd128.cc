// The simd128 kernel: weights and activations meet as INT16 in i32x4.dot_i16x8_s.
#include <algorithm>

#include "kernels/kernel.h"
#include "kernels/simd.h"
#include "kernels/simd_rows.h"

namespace octavo {
namespace {

constexpr int kChunk = 64;  // rows packed together

// A row of activations as INT16, each four reordered to (0, 2, 1, 3): sixteen weight bytes, four inputs of four
// outputs, split into even and odd bytes by one mask and one shift, and each half then meets the pair of activations it
// belongs to. Returns -64·Σx, what undoes the weights' offset.
int32_t pack_row(const int8_t* x, int16_t* packed, int k) {
  v128_t sum = wasm_i32x4_splat(0);
  for (int j = 0; j < k; j += 8) {
    const v128_t wide = wasm_i16x8_load8x8(x + j);
    sum = wasm_i32x4_add(sum, wasm_i32x4_extadd_pairwise_i16x8(wide));
    wasm_v128_store(packed + j, wasm_i16x8_shuffle(wide, wide, 0, 2, 1, 3, 4, 6, 5, 7));
  }
  return -kWeightOffset * (wasm_i32x4_extract_lane(sum, 0) + wasm_i32x4_extract_lane(sum, 1) +
                           wasm_i32x4_extract_lane(sum, 2) + wasm_i32x4_extract_lane(sum, 3));
}

// kRows rows × kPanels panels of 8 outputs, held in registers.
template <int kRows, int kPanels>
void tile(const int16_t* a, const int32_t* start, const uint8_t* panels, int32_t* c, int k, int n) {
  v128_t acc[kRows][kPanels * 2];
  for (int r = 0; r < kRows; ++r) {
    for (int p = 0; p < kPanels * 2; ++p) acc[r][p] = wasm_i32x4_splat(start[r]);
  }
  const v128_t low_byte = wasm_i16x8_splat(0x00ff);
  for (int i = 0; i < k; i += 4) {
    for (int p = 0; p < kPanels * 2; ++p) {
      const v128_t w = wasm_v128_load(panels + (p / 2) * static_cast<int64_t>(kPanel) * k + i * kPanel + (p % 2) * 16);
      const v128_t even = wasm_v128_and(w, low_byte), odd = wasm_u16x8_shr(w, 8);
      for (int r = 0; r < kRows; ++r) {
        const int16_t* x = a + static_cast<int64_t>(r) * k + i;
        acc[r][p] = wasm_i32x4_add(acc[r][p], wasm_i32x4_dot_i16x8(even, wasm_v128_load32_splat(x)));
        acc[r][p] = wasm_i32x4_add(acc[r][p], wasm_i32x4_dot_i16x8(odd, wasm_v128_load32_splat(x + 2)));
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int p = 0; p < kPanels * 2; ++p) wasm_v128_store(c + static_cast<int64_t>(r) * n + 4 * p, acc[r][p]);
  }
}

void product(const int8_t* a, const uint8_t* panels, int32_t* c, int m, int k, int n, void* scratch) {
  auto* packed = static_cast<int16_t*>(scratch);
  int32_t start[kChunk];
  for (int first = 0; first < m; first += kChunk) {
    const int rows = std::min(kChunk, m - first);
    for (int r = 0; r < rows; ++r) {
      start[r] = pack_row(a + static_cast<int64_t>(first + r) * k, packed + static_cast<int64_t>(r) * k, k);
    }
    // Panels outside: one panel of weights stays in cache while all rows pass over it.
    int j = 0;
    if (rows == 1) {
      for (; j + 2 * kPanel <= n; j += 2 * kPanel) {
        tile<1, 2>(packed, start, panels + static_cast<int64_t>(j) * k, c + static_cast<int64_t>(first) * n + j, k, n);
      }
    }
    for (; j < n; j += kPanel) {
      const uint8_t* panel = panels + static_cast<int64_t>(j) * k;
      int r = 0;
      for (; r + 4 <= rows; r += 4) {
        tile<4, 1>(packed + static_cast<int64_t>(r) * k, start + r, panel, c + static_cast<int64_t>(first + r) * n + j,
                   k, n);
      }
      for (; r < rows; ++r) {
        tile<1, 1>(packed + static_cast<int64_t>(r) * k, start + r, panel, c + static_cast<int64_t>(first + r) * n + j,
                   k, n);
      }
    }
  }
}

}  // namespace

const Kernel kSimd128Kernel = {
    "simd128",   product,       simd::unpack_row,   simd::max_abs, simd::write_back, simd::match_add,
    simd::widen, simd::rescale, simd::centre,       simd::gain,    simd::scores,     simd::shifted_relu,
    simd::power, simd::weigh,   simd::weighted_sum, simd::narrow,  simd::logits};

}  // namespace octavo
