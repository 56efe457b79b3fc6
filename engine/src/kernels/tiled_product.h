// The matrix product of the SIMD kernels: tiling and order are written once, a kernel adds its innermost step.
//
// A Step says how activations are prepared and how sixteen weights (four inputs of four outputs) meet four of them:
//   Element                                     what a prepared activation is
//   prepare(a, rows, k, scratch, start)         returns the prepared rows; start[r] = -64·Σx, which undoes the weights'
//   offset Weights load(bytes)                         sixteen weights, ready for use with several rows
//   add_products(acc, weights, x)               acc + the four outputs' products with x[0..3]
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/kernel.h"
#include "kernels/simd.h"

namespace octavo::simd {

constexpr int kTileRows = 4;      // 4 rows × 8 outputs: 8 accumulators, and all operands still fit 16 registers
constexpr int kChunkRows = 64;    // rows prepared together
constexpr int kSinglePanels = 2;  // a lone row takes two panels at a time, to have enough independent sums

// kRows rows × kPanels panels of 8 outputs, held in registers.
template <class Step, int kRows, int kPanels>
inline void tile(const typename Step::Element* a, const int32_t* start, const uint8_t* panels, int32_t* c, int64_t k,
                 int64_t n) {
  v128_t acc[kRows][kPanels * 2];
  for (int r = 0; r < kRows; ++r) {
    for (int p = 0; p < kPanels * 2; ++p) acc[r][p] = wasm_i32x4_splat(start[r]);
  }
  for (int64_t i = 0; i < k; i += 4) {
    for (int p = 0; p < kPanels * 2; ++p) {
      const auto weights = Step::load(panels + (p / 2) * kPanel * k + i * kPanel + (p % 2) * 16);
      for (int r = 0; r < kRows; ++r) acc[r][p] = Step::add_products(acc[r][p], weights, a + r * k + i);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int p = 0; p < kPanels * 2; ++p) wasm_v128_store(c + r * n + 4 * p, acc[r][p]);
  }
}

template <class Step>
void tiled_product(const int8_t* a, const uint8_t* panels, int32_t* c, int m, int k, int n, void* scratch) {
  const int64_t inputs = k, outputs = n;
  int32_t start[kChunkRows];
  for (int first = 0; first < m; first += kChunkRows) {
    const int rows = std::min(kChunkRows, m - first);
    const auto* x = Step::prepare(a + first * inputs, rows, k, scratch, start);
    int32_t* out = c + first * outputs;
    int64_t j = 0;
    if (rows == 1) {
      for (; j + kSinglePanels * kPanel <= n; j += kSinglePanels * kPanel) {
        tile<Step, 1, kSinglePanels>(x, start, panels + j * inputs, out + j, inputs, outputs);
      }
    }
    // Panels outside: one panel of weights stays in cache while all rows pass over it.
    for (; j < n; j += kPanel) {
      int r = 0;
      for (; r + kTileRows <= rows; r += kTileRows) {
        tile<Step, kTileRows, 1>(x + r * inputs, start + r, panels + j * inputs, out + r * outputs + j, inputs,
                                 outputs);
      }
      for (; r < rows; ++r) {
        tile<Step, 1, 1>(x + r * inputs, start + r, panels + j * inputs, out + r * outputs + j, inputs, outputs);
      }
    }
  }
}

}  // namespace octavo::simd
