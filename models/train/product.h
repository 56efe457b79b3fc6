// What both matrix products are made of: product.cc on 12 bits, product8.cc on seven.
#pragma once

#include <immintrin.h>

#include <cstdint>

constexpr int kDepth = 256;  // inputs that are quantised together

// A matrix whose element (row, input) is at data[row·row_stride + input·input_stride]; one of the strides is 1.
struct Matrix {
  const float* data;
  int64_t rows, row_stride, input_stride;
  const float* at(int64_t row, int64_t input) const { return data + row * row_stride + input * input_stride; }
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
