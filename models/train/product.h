// What both matrix products are made of: product.cc on 12 bits, product8.cc on seven.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <cstdint>

constexpr int kDepth = 256;  // inputs that are quantised together

// A matrix whose element (row, input) is at data[row·row_stride + input·input_stride]; one of the strides is 1.
struct Matrix {
  const float* data;
  int64_t rows, row_stride, input_stride;
  const float* at(int64_t row, int64_t input) const { return data + row * row_stride + input * input_stride; }
};

// What a product is added to: rows `stride` apart, one row for all with stride 0, or nothing.
struct Start {
  const float* data;
  int64_t stride;
  Start at(int64_t row, int64_t column) const { return {data ? data + row * stride + column : nullptr, stride}; }
};

inline __m256 absolute(__m256 x) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x); }

inline float largest(__m256 x) {
  __m128 m = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  m = _mm_max_ps(m, _mm_movehl_ps(m, m));
  return _mm_cvtss_f32(_mm_max_ss(m, _mm_shuffle_ps(m, m, 1)));
}

// Ones in the first n of eight lanes.
inline __m256i lanes_below(int64_t n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n < 8 ? n : 8)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

// What makes `limit` of the largest.
inline float inverse_step(float max, float limit) { return max > 0 ? limit / max : 0.0f; }

// Eight rows of eight become columns.
inline void transpose8(__m256i r[8]) {
  __m256i t[8], u[8];
  for (int i = 0; i < 4; ++i) {
    t[2 * i] = _mm256_unpacklo_epi32(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm256_unpackhi_epi32(r[2 * i], r[2 * i + 1]);
  }
  for (int i = 0; i < 2; ++i) {
    u[4 * i + 0] = _mm256_unpacklo_epi64(t[4 * i], t[4 * i + 2]);
    u[4 * i + 1] = _mm256_unpackhi_epi64(t[4 * i], t[4 * i + 2]);
    u[4 * i + 2] = _mm256_unpacklo_epi64(t[4 * i + 1], t[4 * i + 3]);
    u[4 * i + 3] = _mm256_unpackhi_epi64(t[4 * i + 1], t[4 * i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm256_permute2x128_si256(u[i], u[i + 4], 0x20);
    r[i + 4] = _mm256_permute2x128_si256(u[i], u[i + 4], 0x31);
  }
}

// c[i][j] = start[i][j] + sums[i][j] · step_a[i] · step_b[j], for `rows` × `columns` of a tile; without `start`, only the product.
template <int Rows, int Columns>
void write_tile(const int32_t (&sums)[Rows][Columns], const float* step_a, const float* step_b, Start start, float* c, int64_t stride,
                int64_t rows, int64_t columns) {
  for (int64_t i = 0; i < std::min<int64_t>(rows, Rows); ++i, c += stride) {
    float y[Columns];
    const float* base = start.data + i * start.stride;
    const auto write = [&](int64_t n) __attribute__((always_inline)) {
      if (start.data) {
        for (int64_t j = 0; j < n; ++j) c[j] = base[j] + y[j];
      } else {
        std::copy_n(y, n, c);
      }
    };
    for (int j = 0; j < Columns; ++j) y[j] = static_cast<float>(sums[i][j]) * (step_a[i] * step_b[j]);
    if (columns >= Columns) {
      write(Columns);
    } else {
      write(columns);
    }
  }
}
