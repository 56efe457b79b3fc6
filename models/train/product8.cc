// The same product on seven bits, for everything but the softmax and the optimiser: C = A·Bᵀ with FP32 in and out.
//
// The rows of A and B are quantised a block of 256 inputs at a time, each to ±63 steps of its own maximum, about as coarsely as the
// engine itself will, so that a model trained this way is used to it; of a gradient it costs 2 to 5 % noise, where its batch
// brings many times more. vpmaddubsw multiplies 32 at once, vpmaddwd only 16; it wants one side without sign, so A is moved up by
// 64 and 64·Σb is taken off the result. One thread, AVX2.
#include "product.h"

#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace {

constexpr int kStep = 8;        // inputs of one round of the tile; a block is filled up by zeros to a multiple of it
constexpr int kOffset = 64;     // 2·(2·127·63) = 32004: four products fit INT16
constexpr float kLimit = 63;
constexpr int kRows = 4;        // of A in one tile: B comes from memory, so more rows would win nothing
constexpr int kColumns = 16;    // rows of B in one tile, in two halves
constexpr int64_t kBlock = 192; // rows of A that stay in the second-level cache, packed
static_assert(kBlock % 64 == 0 && kDepth % 32 == 0);

// Vectors that lie across two lines of the cache cost twice.
template <class T>
struct Aligned {
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> lines;
  void resize(int64_t n) { lines.resize((n * sizeof(T) + 63) / 64); }
  T* data() { return reinterpret_cast<T*>(lines.data()); }
};

int64_t rounded_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

// One row of at most kDepth contiguous inputs in steps of its maximum, filled up by zeros.
float quantize_row(const float* x, int64_t depth, int8_t out[kDepth]) {
  alignas(32) float filled[kDepth];
  const int64_t whole = rounded_up(depth, 32);
  if (whole != depth) {
    std::memcpy(filled, x, depth * sizeof(float));
    std::fill(filled + depth, filled + whole, 0.0f);
    x = filled;
  }
  __m256 max = _mm256_setzero_ps();
  for (int64_t k = 0; k < whole; k += 8) max = _mm256_max_ps(max, absolute(_mm256_loadu_ps(x + k)));
  const float top = largest(max);
  const __m256 scale = _mm256_set1_ps(inverse_step(top, kLimit));
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  for (int64_t k = 0; k < whole; k += 32) {
    const auto part = [&](int i) { return _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + k + 8 * i), scale)); };
    const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(part(0), part(1)), _mm256_packs_epi32(part(2), part(3)));
    _mm256_store_si256(reinterpret_cast<__m256i*>(out + k), _mm256_permutevar8x32_epi32(bytes, order));
  }
  return top / kLimit;
}

// Rows that lie side by side, element (row, input) at x[input·stride + row], `rows` ≤ 64 of them: input after input, because rows of
// memory that are a power of two apart throw each other out of the cache. emit(row, input, first, second) gets eight inputs of
// eight rows, the first four and the other four inputs of each row in one lane.
template <class Emit>
void quantize_columns(const float* x, int64_t stride, int64_t rows, int64_t depth, float* steps, Emit&& emit) {
  constexpr int kParts = 8;
  const int parts = static_cast<int>((rows + 7) / 8);
  __m256i mask[kParts];
  __m256 scale[kParts];
  for (int v = 0; v < parts; ++v) {
    mask[v] = lanes_below(rows - 8 * v);
    scale[v] = _mm256_setzero_ps();
  }
  const auto load = [&](int64_t k, int v) { return _mm256_maskload_ps(x + k * stride + 8 * v, mask[v]); };
  for (int64_t k = 0; k < depth; ++k)
    for (int v = 0; v < parts; ++v) scale[v] = _mm256_max_ps(scale[v], absolute(load(k, v)));
  for (int v = 0; v < parts; ++v) {
    alignas(32) float top[8];
    _mm256_store_ps(top, scale[v]);
    for (int j = 0; j < 8; ++j) steps[8 * v + j] = top[j] / kLimit, top[j] = inverse_step(top[j], kLimit);
    scale[v] = _mm256_load_ps(top);
  }
  const auto four = [&](int64_t k, int v) {
    __m256i bytes = _mm256_setzero_si256();
    for (int i = 0; i < 4 && k + i < depth; ++i) {
      const __m256i value = _mm256_cvtps_epi32(_mm256_mul_ps(load(k + i, v), scale[v]));
      bytes = _mm256_or_si256(bytes, _mm256_slli_epi32(_mm256_and_si256(value, _mm256_set1_epi32(0xff)), 8 * i));
    }
    return bytes;
  };
  for (int64_t k = 0; k < depth; k += kStep)
    for (int v = 0; v < parts; ++v) emit(8 * v, k, four(k, v), four(k + 4, v));
}

// A: panels of four rows, [panel][input / 8][row][8], moved up by kOffset.
struct Left {
  Aligned<uint8_t> values;
  std::vector<float> steps = std::vector<float>(kBlock);

  Left() { values.resize(kBlock * kDepth); }

  // `rows` from `first` on.
  void pack(const Matrix& a, int64_t first, int64_t rows, int64_t input, int64_t depth) {
    const int64_t filled = rounded_up(depth, kStep);
    const auto place = [&](int64_t row, int64_t k) {
      return values.data() + row / kRows * kRows * filled + k * kRows + row % kRows * kStep;
    };
    if (a.input_stride != 1) {
      for (int64_t i = 0; i < rows; i += 64)
        quantize_columns(a.at(first + i, input), a.input_stride, std::min<int64_t>(64, rows - i), depth, steps.data() + i,
                         [&](int64_t row, int64_t k, __m256i even, __m256i odd) {
                           const __m256i up = _mm256_set1_epi8(kOffset);
                           const __m256i low = _mm256_add_epi8(_mm256_unpacklo_epi32(even, odd), up);   // rows 0, 1 and 4, 5
                           const __m256i high = _mm256_add_epi8(_mm256_unpackhi_epi32(even, odd), up);  // rows 2, 3 and 6, 7
                           auto* here = reinterpret_cast<__m256i*>(place(i + row, k));
                           auto* next = reinterpret_cast<__m256i*>(place(i + row + kRows, k));
                           _mm256_store_si256(here, _mm256_permute2x128_si256(low, high, 0x20));
                           _mm256_store_si256(next, _mm256_permute2x128_si256(low, high, 0x31));
                         });
      return;
    }
    alignas(32) int8_t row[kDepth];
    for (int64_t i = 0; i < rows; ++i) {
      steps[i] = quantize_row(a.at(first + i, input), depth, row);
      for (int64_t k = 0; k < filled; k += kStep) {
        uint64_t eight;
        std::memcpy(&eight, row + k, kStep);
        eight = (eight ^ 0x8080808080808080u) - 0x4040404040404040u;  // +64 in each byte: none borrows, as -63 + 128 ≥ 64
        std::memcpy(place(i, k), &eight, kStep);
      }
    }
  }
};

// B: panels of sixteen rows, [panel][input / 8][half][input / 4 % 2][row % 8][4].
struct Right {
  Aligned<int8_t> values;
  std::vector<float> steps;
  std::vector<int32_t> offsets;  // kOffset·Σb of each row

  void pack(const Matrix& b, int64_t input, int64_t depth) {
    const int64_t filled = rounded_up(depth, kStep), all = rounded_up(b.rows, 64);
    if (static_cast<int64_t>(steps.size()) < all) {
      values.resize(all * kDepth);
      steps.resize(all);
      offsets.resize(all);
    }
    const auto place = [&](int64_t row, int64_t k) {
      return values.data() + row / kColumns * kColumns * filled + k * kColumns + row % kColumns / 8 * 64 + row % 8 * 4;
    };
    std::fill(offsets.begin(), offsets.end(), 0);
    if (b.input_stride != 1) {
      for (int64_t j = 0; j < b.rows; j += 64)
        quantize_columns(b.at(j, input), b.input_stride, std::min<int64_t>(64, b.rows - j), depth, steps.data() + j,
                         [&](int64_t row, int64_t k, __m256i even, __m256i odd) {
                           auto* here = reinterpret_cast<__m256i*>(place(j + row, k));
                           _mm256_store_si256(here, even);
                           _mm256_store_si256(here + 1, odd);
                           auto* offset = reinterpret_cast<__m256i*>(offsets.data() + j + row);
                           const auto weighted = [](__m256i four) {
                             return _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_set1_epi8(kOffset), four), _mm256_set1_epi16(1));
                           };
                           const __m256i eight = _mm256_add_epi32(weighted(even), weighted(odd));
                           _mm256_storeu_si256(offset, _mm256_add_epi32(_mm256_loadu_si256(offset), eight));
                         });
      return;
    }
    alignas(32) int8_t row[kDepth];
    for (int64_t j = 0; j < b.rows; ++j) {
      steps[j] = quantize_row(b.at(j, input), depth, row);
      for (int64_t k = 0; k < filled; k += kStep) {
        std::memcpy(place(j, k), row + k, 4);
        std::memcpy(place(j, k) + 32, row + k + 4, 4);
      }
      for (int64_t k = 0; k < filled; ++k) offsets[j] += kOffset * row[k];
    }
  }
};

// One tile: c[i][j] (+)= (Σ_k a[i][k]·b[j][k] - offset[j]) · step_a[i] · step_b[j], for `rows` × `columns` of the 4 × 16.
template <size_t... I>
void tile(const uint8_t* a, const int8_t* b, int64_t count, const float* step_a, const float* step_b, const int32_t* offset, float* c,
          int64_t stride, int64_t rows, int64_t columns, bool add, std::index_sequence<I...>) {
  __m256i low[kRows], high[kRows];
  ((low[I] = high[I] = _mm256_setzero_si256()), ...);
  const __m256i one = _mm256_set1_epi16(1);
  for (int64_t p = 0; p < count; ++p, a += kStep * kRows, b += kStep * kColumns) {
    const auto* quads = reinterpret_cast<const __m256i*>(b);
    const auto multiply_row = [&](const uint8_t* row, __m256i& l, __m256i& h) __attribute__((always_inline)) {
      const __m256i a0 = _mm256_castps_si256(_mm256_broadcast_ss(reinterpret_cast<const float*>(row)));
      const __m256i a1 = _mm256_castps_si256(_mm256_broadcast_ss(reinterpret_cast<const float*>(row + 4)));
      const __m256i low_pairs = _mm256_add_epi16(_mm256_maddubs_epi16(a0, quads[0]), _mm256_maddubs_epi16(a1, quads[1]));
      const __m256i high_pairs = _mm256_add_epi16(_mm256_maddubs_epi16(a0, quads[2]), _mm256_maddubs_epi16(a1, quads[3]));
      // In place and row after row, as in product.cc.
      asm("vpaddd %1, %0, %0" : "+x"(l) : "x"(_mm256_madd_epi16(low_pairs, one)));
      asm("vpaddd %1, %0, %0" : "+x"(h) : "x"(_mm256_madd_epi16(high_pairs, one)));
    };
    (multiply_row(a + kStep * I, low[I], high[I]), ...);
  }
  const auto write = [&](int64_t i, __m256i sums, int half) __attribute__((always_inline)) {
    if (i >= rows || columns <= 8 * half) return;
    float* out = c + i * stride + 8 * half;
    const __m256i exact = _mm256_sub_epi32(sums, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(offset + 8 * half)));
    const __m256 y = _mm256_mul_ps(_mm256_cvtepi32_ps(exact),
                                   _mm256_mul_ps(_mm256_set1_ps(step_a[i]), _mm256_loadu_ps(step_b + 8 * half)));
    if (columns >= 8 * half + 8) {
      _mm256_storeu_ps(out, add ? _mm256_add_ps(_mm256_loadu_ps(out), y) : y);
    } else {
      alignas(32) float part[8];
      _mm256_store_ps(part, y);
      for (int64_t j = 0; j < columns - 8 * half; ++j) out[j] = part[j] + (add ? out[j] : 0.0f);
    }
  };
  ((write(I, low[I], 0), write(I, high[I], 1)), ...);
}

}  // namespace

// C (m × n, rows n apart) = A·Bᵀ, or += with `add`; k inputs. A's element (i, k) is at a[i·a_row + k·a_input], B's likewise.
extern "C" void product8(const float* a, int64_t a_row, int64_t a_input, const float* b, int64_t b_row, int64_t b_input, float* c,
                         int64_t m, int64_t n, int64_t k, int add) {
  // All of B is packed first, block of inputs after block, so that a few rows of C stay in the cache until they are done.
  static Left left;
  static std::vector<Right> blocks;
  const Matrix A{a, m, a_row, a_input}, B{b, n, b_row, b_input};
  const int64_t count = (k + kDepth - 1) / kDepth;
  if (static_cast<int64_t>(blocks.size()) < count) blocks.resize(count);
  const auto depth_of = [&](int64_t block) { return std::min<int64_t>(kDepth, k - block * kDepth); };
  for (int64_t block = 0; block < count; ++block) blocks[block].pack(B, block * kDepth, depth_of(block));
  for (int64_t first = 0; first < m; first += kBlock) {
    const int64_t rows = std::min(kBlock, m - first);
    for (int64_t block = 0; block < count; ++block) {
      Right& right = blocks[block];
      const int64_t filled = rounded_up(depth_of(block), kStep);
      left.pack(A, first, rows, block * kDepth, depth_of(block));
      for (int64_t j = 0; j < n; j += kColumns)
        for (int64_t i = 0; i < rows; i += kRows)
          tile(left.values.data() + i * filled, right.values.data() + j * filled, filled / kStep, left.steps.data() + i,
               right.steps.data() + j, right.offsets.data() + j, c + (first + i) * n + j, n, rows - i, n - j, add != 0 || block > 0,
               std::make_index_sequence<kRows>{});
    }
  }
}
