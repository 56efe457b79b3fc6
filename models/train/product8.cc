// The same product on seven or eight bits, for everything but the softmax and the optimiser: C = A·Bᵀ with FP32 in and out.
//
// The rows of A and B are quantised a block of 256 inputs at a time, each to steps of its own maximum, about as coarsely as the
// engine itself will, so that a model trained this way is used to it; of a gradient it costs 2 to 5 % noise, where its batch
// brings many times more. A CPU with AVX-512 VNNI adds up four products of eight bits in one instruction; vpmaddubsw of AVX2
// multiplies 32 at once, vpmaddwd only 16. Both want one side without sign, so A is moved up and what that adds is taken off the
// result. One thread.
#include "product.h"

#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace {

constexpr int kPanel = 8;       // rows of A in a panel
constexpr int kStep = 8;        // a block of inputs is filled up by zeros to a multiple of it
constexpr int64_t kBlock = 192; // rows of A that stay in the second-level cache, packed
#ifdef __AVX512VNNI__
constexpr float kLimit = 127;
constexpr int kOffset = 128;    // 256·255·127 < 2^31: a block cannot overflow
constexpr int kRows = 8;        // of A in one tile
constexpr int kColumns = 32;    // rows of B in one tile, in two halves
#else
constexpr float kLimit = 63;
constexpr int kOffset = 64;     // 2·(2·127·63) = 32004: four products fit INT16
constexpr int kRows = 4;        // more would win nothing: B comes from memory
constexpr int kColumns = 16;
#endif
static_assert(kBlock % 64 == 0 && kDepth % 32 == 0 && kPanel % kRows == 0);

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

// Sums of four products, of which `a` has no sign, in each lane.
__m256i fours(__m256i a, __m256i b) { return _mm256_madd_epi16(_mm256_maddubs_epi16(a, b), _mm256_set1_epi16(1)); }

// Rows in panels, four inputs of each row beside those of the next: [row / Height][input / 4][row % Height][4].
template <int Height>
struct Panels {
  Aligned<int8_t> values;
  std::vector<float> steps;  // of each row: real number = value · step
  int64_t filled = 0;        // inputs of a row, with the zeros at its end

  void reserve(int64_t rows) {
    const int64_t all = rounded_up(rows, 64);
    if (static_cast<int64_t>(steps.size()) >= all) return;
    values.resize(all * kDepth);
    steps.resize(all);
  }

  // Where inputs k.. of eight rows begin; k is a multiple of four, row of eight.
  __m256i* place(int64_t row, int64_t k) {
    return reinterpret_cast<__m256i*>(values.data() + row / Height * Height * filled + k * Height + row % Height * 4);
  }

  // `rows` of m from `first` on, each value moved up by `up`. Fills up to eight rows more, with anything.
  void pack(const Matrix& m, int64_t first, int64_t rows, int64_t input, int64_t depth, int up) {
    filled = rounded_up(depth, kStep);
    const __m256i offset = _mm256_set1_epi8(static_cast<char>(up));
    if (m.input_stride == 1) {
      for (int64_t row = 0; row < rows; row += 8)
        pack_contiguous(m.at(first + row, input), m.row_stride, std::min<int64_t>(8, rows - row), depth, row, offset);
    } else {
      for (int64_t row = 0; row < rows; row += 64)
        pack_columns(m.at(first + row, input), m.input_stride, std::min<int64_t>(64, rows - row), depth, row, offset);
    }
  }

 private:
  // Up to eight rows of contiguous inputs, 32 of them at a time.
  void pack_contiguous(const float* x, int64_t stride, int64_t rows, int64_t depth, int64_t row, __m256i offset) {
    __m256 scale[8];
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t k = 0; k < depth; k += 16) _mm_prefetch(reinterpret_cast<const char*>(x + (i + 2) * stride + k), _MM_HINT_T0);
      const float top = largest_of(x + i * stride, depth);
      steps[row + i] = top / kLimit;
      scale[i] = _mm256_set1_ps(inverse_step(top, kLimit));
    }
    for (int64_t k = 0; k < filled; k += 32) {
      const int64_t left = depth - k;
      __m256i r[8];
      for (int64_t i = 0; i < 8; ++i)
        r[i] = i < rows ? _mm256_add_epi8(quantized32(x + i * stride + k, scale[i], left), offset) : offset;
      transpose8(r);
      for (int64_t p = 0; p < 8 && k + 4 * p < filled; ++p) _mm256_store_si256(place(row, k + 4 * p), r[p]);
    }
  }

  static float largest_of(const float* x, int64_t n) {
    __m256 max = _mm256_setzero_ps();
    int64_t k = 0;
    for (; k + 8 <= n; k += 8) max = _mm256_max_ps(max, absolute(_mm256_loadu_ps(x + k)));
    if (k < n) max = _mm256_max_ps(max, absolute(_mm256_maskload_ps(x + k, lanes_below(n - k))));
    return largest(max);
  }

  // 32 inputs in order, zeros from `left` on.
  static __m256i quantized32(const float* x, __m256 scale, int64_t left) {
    const auto part = [&](int i) {
      const __m256 eight = left >= 32 ? _mm256_loadu_ps(x + 8 * i) : _mm256_maskload_ps(x + 8 * i, lanes_below(left - 8 * i));
      return _mm256_cvtps_epi32(_mm256_mul_ps(eight, scale));
    };
    const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(part(0), part(1)), _mm256_packs_epi32(part(2), part(3)));
    return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  }

  // Up to 64 rows that lie side by side, element (row, input) at x[input·stride + row]: input after input, because rows of memory
  // that are a power of two apart throw each other out of the cache.
  void pack_columns(const float* x, int64_t stride, int64_t rows, int64_t depth, int64_t row, __m256i offset) {
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
      for (int v = 0; v < parts; ++v) {
        // No two inputs lie in one line or page, which is more than the CPU guesses by itself.
        if (v % 2 == 0) _mm_prefetch(reinterpret_cast<const char*>(x + (k + 12) * stride + 8 * v), _MM_HINT_T0);
        scale[v] = _mm256_max_ps(scale[v], absolute(load(k, v)));
      }
    for (int v = 0; v < parts; ++v) {
      alignas(32) float top[8];
      _mm256_store_ps(top, scale[v]);
      for (int j = 0; j < 8; ++j) steps[row + 8 * v + j] = top[j] / kLimit, top[j] = inverse_step(top[j], kLimit);
      scale[v] = _mm256_load_ps(top);
    }
    for (int64_t k = 0; k < filled; k += 4)
      for (int v = 0; v < parts; ++v) {
        __m256i bytes = _mm256_setzero_si256();
        for (int i = 0; i < 4 && k + i < depth; ++i) {
          const __m256i value = _mm256_cvtps_epi32(_mm256_mul_ps(load(k + i, v), scale[v]));
          bytes = _mm256_or_si256(bytes, _mm256_slli_epi32(_mm256_and_si256(value, _mm256_set1_epi32(0xff)), 8 * i));
        }
        _mm256_store_si256(place(row + 8 * v, k), _mm256_add_epi8(bytes, offset));
      }
  }
};

using Left = Panels<kPanel>;

struct Right : Panels<kColumns> {
  std::vector<int32_t> offsets;  // kOffset·Σb of each row: what moving A up adds

  void pack(const Matrix& b, int64_t input, int64_t depth) {
    reserve(b.rows);
    Panels::pack(b, 0, b.rows, input, depth, 0);
    offsets.resize(steps.size());
    const __m256i weight = _mm256_set1_epi8(kOffset / 2);  // half, and doubled below: two products of kOffset may not fit INT16
    for (int64_t row = 0; row < b.rows; row += 8) {
      __m256i sum = _mm256_setzero_si256();
      for (int64_t k = 0; k < filled; k += 4) sum = _mm256_add_epi32(sum, fours(weight, *place(row, k)));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(offsets.data() + row), _mm256_slli_epi32(sum, 1));
    }
  }
};

// The sums of one tile, sums[i][j] = Σ_k a[i][k]·b[j][k] - offset[j], for a block of inputs. Every index of a register is a
// constant, so that the sums live in them.
template <size_t... I>
void multiply_tile(const int8_t* a, const int8_t* b, const int32_t* offset, int64_t filled, int32_t sums[kRows][kColumns],
                   std::index_sequence<I...>) {
#ifdef __AVX512VNNI__
  __m512i low[kRows], high[kRows];
  ((low[I] = high[I] = _mm512_setzero_si512()), ...);
  for (int64_t k = 0; k < filled; k += 4, a += 4 * kPanel, b += 4 * kColumns) {
    const __m512i b0 = _mm512_load_si512(b), b1 = _mm512_load_si512(b + 64);
    const auto multiply_row = [&](const int8_t* row, __m512i& l, __m512i& h) __attribute__((always_inline)) {
      const __m512i four = _mm512_set1_epi32(*reinterpret_cast<const int32_t*>(row));
      // In place, as in product.cc.
      asm("vpdpbusd %2, %1, %0" : "+v"(l) : "v"(four), "v"(b0));
      asm("vpdpbusd %2, %1, %0" : "+v"(h) : "v"(four), "v"(b1));
    };
    (multiply_row(a + 4 * I, low[I], high[I]), ...);
  }
  const auto store = [](int32_t* out, __m512i x, const int32_t* less) {
    _mm512_store_si512(out, _mm512_sub_epi32(x, _mm512_loadu_si512(less)));
  };
  ((store(sums[I], low[I], offset), store(sums[I] + kColumns / 2, high[I], offset + kColumns / 2)), ...);
#else
  __m256i low[kRows], high[kRows];
  ((low[I] = high[I] = _mm256_setzero_si256()), ...);
  const __m256i one = _mm256_set1_epi16(1);
  for (int64_t k = 0; k < filled; k += 8, a += 8 * kPanel, b += 8 * kColumns) {
    const auto* quads = reinterpret_cast<const __m256i*>(b);
    const auto multiply_row = [&](const int8_t* row, __m256i& l, __m256i& h) __attribute__((always_inline)) {
      const __m256i a0 = _mm256_castps_si256(_mm256_broadcast_ss(reinterpret_cast<const float*>(row)));
      const __m256i a1 = _mm256_castps_si256(_mm256_broadcast_ss(reinterpret_cast<const float*>(row + 4 * kPanel)));
      const __m256i low_pairs = _mm256_add_epi16(_mm256_maddubs_epi16(a0, quads[0]), _mm256_maddubs_epi16(a1, quads[2]));
      const __m256i high_pairs = _mm256_add_epi16(_mm256_maddubs_epi16(a0, quads[1]), _mm256_maddubs_epi16(a1, quads[3]));
      // In place and row after row, as in product.cc.
      asm("vpaddd %1, %0, %0" : "+x"(l) : "x"(_mm256_madd_epi16(low_pairs, one)));
      asm("vpaddd %1, %0, %0" : "+x"(h) : "x"(_mm256_madd_epi16(high_pairs, one)));
    };
    (multiply_row(a + 4 * I, low[I], high[I]), ...);
  }
  const auto store = [](int32_t* out, __m256i x, const int32_t* less) {
    const __m256i y = _mm256_sub_epi32(x, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(less)));
    _mm256_store_si256(reinterpret_cast<__m256i*>(out), y);
  };
  ((store(sums[I], low[I], offset), store(sums[I] + kColumns / 2, high[I], offset + kColumns / 2)), ...);
#endif
}

}  // namespace

// C (m × n, rows n apart) = A·Bᵀ, plus `start` where there is one; k inputs. A's element (i, k) is at a[i·a_row + k·a_input], B's
// likewise, start's (i, j) at start[i·start_row + j]; it may be C.
extern "C" void product8(const float* a, int64_t a_row, int64_t a_input, const float* b, int64_t b_row, int64_t b_input, float* c,
                         int64_t m, int64_t n, int64_t k, const float* start, int64_t start_row) {
  // All of B is packed first, block of inputs after block, so that a few rows of C stay in the cache until they are done.
  static Left left;
  static std::vector<Right> blocks;
  left.reserve(kBlock);
  const Matrix A{a, m, a_row, a_input}, B{b, n, b_row, b_input};
  const int64_t count = (k + kDepth - 1) / kDepth;
  if (static_cast<int64_t>(blocks.size()) < count) blocks.resize(count);
  const auto depth_of = [&](int64_t block) { return std::min<int64_t>(kDepth, k - block * kDepth); };
  for (int64_t block = 0; block < count; ++block) blocks[block].pack(B, block * kDepth, depth_of(block));
  for (int64_t first = 0; first < m; first += kBlock) {
    const int64_t rows = std::min(kBlock, m - first);
    for (int64_t block = 0; block < count; ++block) {
      Right& right = blocks[block];
      const Start sum = block > 0 ? Start{c, n} : Start{start, start_row};
      left.pack(A, first, rows, block * kDepth, depth_of(block), kOffset);
      for (int64_t j = 0; j < n; j += kColumns)
        for (int64_t i = 0; i < rows; i += kRows) {
          alignas(64) int32_t sums[kRows][kColumns];
          const int8_t* panel = left.values.data() + i / kPanel * kPanel * left.filled + i % kPanel * 4;
          multiply_tile(panel, right.values.data() + j * right.filled, right.offsets.data() + j, left.filled, sums,
                        std::make_index_sequence<kRows>{});
          write_tile(sums, left.steps.data() + i, right.steps.data() + j, sum.at(first + i, j), c + (first + i) * n + j, n, rows - i,
                     n - j);
        }
    }
  }
}
