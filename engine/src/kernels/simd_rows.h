// The row functions of kernel.h in 128-bit SIMD, shared by the simd128 and relaxed kernels.
#pragma once

#include "kernels/kernel.h"

namespace octavo::simd {

void unpack_row(const uint8_t* panels, int j, int k, int8_t* out);
int32_t write_back(const int32_t* acc, const WriteBack& how, int16_t* y, int n);
int32_t match_add(const int16_t* a, int32_t m_a, const int16_t* b, int32_t m_b, int16_t* y, int n);
void widen(const int8_t* x, int shift, int16_t* y, int n);
void rescale(const int16_t* x, int32_t m, int8_t* y, int n);
int32_t centre(const int8_t* x, int32_t* c, int n);
int32_t gain(const int32_t* c, int shift, const int16_t* gain, int16_t* y, int n);
int32_t scores(const int8_t* q, const int8_t* keys, int stride, int count, int width, int32_t* out);
int32_t shifted_relu(const int32_t* x, int shift, const uint16_t* match, int32_t m, int32_t b, int16_t* y, int count);
int32_t weigh(const int8_t* v, int degree, int32_t delta, int shift, const uint16_t* match, int16_t* y, int32_t* sum,
              int count);
int32_t weighted_sum(const int8_t* w, const int8_t* values, int stride, int count, int width, int32_t* out);
int32_t narrow(const int32_t* x, int shift, int32_t m, int16_t* y, int n);
int32_t logits(const int32_t* acc, int shift, const uint16_t* column, int32_t* out, int n);

// A kernel with these functions and a matrix product of its own.
constexpr Kernel kernel_with(const char* name, decltype(Kernel::product) product) {
  return {name, product, unpack_row,   write_back, match_add,    widen,  rescale, centre,
          gain, scores,  shifted_relu, weigh,      weighted_sum, narrow, logits};
}

}  // namespace octavo::simd
