// The matrix product of the SIMD kernels: tiling and order are written once, a kernel adds its innermost step.
//
// A Step says how activations are prepared and how sixteen weights (four inputs of four outputs) meet four of them:
//   Element, Weights                            what a prepared activation is, and what sixteen weights are
//   kSinglePanels                               panels that a lone row takes at a time
//   prepare(a, rows, k, scratch, start)         returns the prepared rows; start[r] = -64·Σx, which undoes the offset
//   load(bytes)                                 sixteen weights, ready for use with several rows
//   add_products(acc, weights, x)               acc + the four outputs' products with x[0..3]
// One Step serves a whole product; its members are the constants that should stay in registers.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/kernel.h"
#include "kernels/simd.h"

namespace octavo::simd {

constexpr int kTileRows = 4;    // 4 rows × 8 outputs: 8 accumulators, and all operands still fit 16 registers
constexpr int kChunkRows = 64;  // rows prepared together

// Rows of activations on their way through the product.
template <class Step>
struct Rows {
  const typename Step::Element* x;  // (rows, k), prepared
  const int32_t* start;             // (rows) what each sum starts from
  int32_t* c;                       // (rows, n)
  v128_t* top;                      // (rows) the largest |c| so far, in four lanes
  int64_t k, n;

  Rows from(int64_t row, int64_t column) const {
    return {x + row * k, start + row, c + row * n + column, top + row, k, n};
  }
};

// kRows rows × kPanels panels of 8 outputs, held in registers.
template <int kRows, int kPanels, class Step>
inline void tile(const Step& step, const Rows<Step>& rows, const uint8_t* panels) {
  constexpr int kVectors = 2 * kPanels;
  v128_t acc[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) acc[r][v] = wasm_i32x4_splat(rows.start[r]);
  }
  for (int64_t i = 0; i < rows.k; i += 4) {
    // All weights first, then row by row: the other way round the activations of all rows would be needed at once.
    typename Step::Weights weights[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      weights[v] = step.load(panels + (v / 2) * kPanel * rows.k + i * kPanel + (v % 2) * 16);
    }
    for (int r = 0; r < kRows; ++r) {
      for (int v = 0; v < kVectors; ++v) {
        acc[r][v] = step.add_products(acc[r][v], weights[v], rows.x + r * rows.k + i);
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      wasm_v128_store(rows.c + r * rows.n + 4 * v, acc[r][v]);
      rows.top[r] = wasm_i32x4_max(rows.top[r], wasm_i32x4_abs(acc[r][v]));
    }
  }
}

// One to three rows: as many panels at a time as it takes to have enough independent sums. Each weight is read once.
template <int kRows, int kPanels, class Step>
void few_rows(const Step& step, const Rows<Step>& rows, const uint8_t* panels) {
  int64_t j = 0;
  for (; j + kPanels * kPanel <= rows.n; j += kPanels * kPanel) {
    tile<kRows, kPanels>(step, rows.from(0, j), panels + j * rows.k);
  }
  for (; j < rows.n; j += kPanel) tile<kRows, 1>(step, rows.from(0, j), panels + j * rows.k);
}

// More rows: panels outside, so that one panel of weights stays in cache while all rows pass over it.
template <class Step>
void many_rows(const Step& step, const Rows<Step>& rows, int count, const uint8_t* panels) {
  for (int64_t j = 0; j < rows.n; j += kPanel) {
    const uint8_t* panel = panels + j * rows.k;
    int r = 0;
    for (; r + kTileRows <= count; r += kTileRows) tile<kTileRows, 1>(step, rows.from(r, j), panel);
    if (count - r == 3) tile<3, 1>(step, rows.from(r, j), panel);
    if (count - r == 2) tile<2, 1>(step, rows.from(r, j), panel);
    if (count - r == 1) tile<1, 1>(step, rows.from(r, j), panel);
  }
}

template <class Step>
void tiled_product(const int8_t* a, const uint8_t* panels, int32_t* c, int m, int k, int n, void* scratch,
                   int32_t* max) {
  const Step step;
  int32_t start[kChunkRows];
  v128_t top[kChunkRows];
  for (int first = 0; first < m; first += kChunkRows) {
    const int count = std::min(kChunkRows, m - first);
    const auto* x = Step::prepare(a + static_cast<int64_t>(first) * k, count, k, scratch, start);
    std::fill(top, top + count, wasm_i32x4_splat(0));
    const Rows<Step> rows = {x, start, c + static_cast<int64_t>(first) * n, top, k, n};
    switch (count) {
      case 1:
        few_rows<1, Step::kSinglePanels>(step, rows, panels);
        break;
      case 2:
        few_rows<2, 2>(step, rows, panels);
        break;
      case 3:
        few_rows<3, 2>(step, rows, panels);
        break;
      default:
        many_rows(step, rows, count, panels);
    }
    for (int r = 0; r < count; ++r) max[first + r] = max_lanes(top[r]);
  }
}

}  // namespace octavo::simd
