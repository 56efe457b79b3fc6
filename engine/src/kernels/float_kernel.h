// The FP32 kernels of the twin, in 128-bit SIMD: the honest baseline that INT8 is measured against.
// Plain functions, because there is one implementation; the reference that they are tested against
// is in the test.
//
// Every function computes a row's result in one fixed order, whatever other rows it is called with:
// the translation of a sentence does not depend on its batch here either.
#pragma once

#include <cstdint>

namespace octavo::fp32 {

// What becomes of x·Wᵀ + b.
enum class Into {
  kStore,  // y  = x·Wᵀ + b
  kRelu,   // y  = max(0, x·Wᵀ + b)
  kAdd,    // y += x·Wᵀ + b: a residual connection
};

// x: (rows, inputs), y: (rows, outputs); weights in panels of 8 outputs, [outputs/8][inputs][8];
// bias: (outputs) or null.
void product(const float* x, const float* panels, const float* bias, float* y, int rows, int inputs, int outputs,
             Into into);

// Layer norms of one row; n is a multiple of 16.
// y = g ⊙ (x-μ) / (C·mean|x-μ| + 1e-6) + b with C = √(π/2)
void l1_norm(const float* x, const float* g, const float* b, float* y, int n);
// y = g ⊙ (x-μ) / √(mean (x-μ)² + 1e-5) + b
void l2_norm(const float* x, const float* g, const float* b, float* y, int n);

// Attention, one query of one head. keys, values: `count` rows, `stride` floats apart, count >= 1;
// width a multiple of 8. `weights` has room for count rounded up to a multiple of 4.

// weights[j] = q·key_j
void scores(const float* q, const float* keys, int stride, int count, int width, float* weights);
// w = ReLU(scale·w + b)^degree + delta; returns Σw.
float polynomial(float* weights, int count, float scale, float b, float delta, int degree);
// w = exp(scale·(w - max w)); returns Σw.
float softmax(float* weights, int count, float scale);
// out = factor·Σ_j w_j·value_j
void weighted_sum(const float* weights, const float* values, int stride, int count, int width, float factor,
                  float* out);
// y += factor·x
void accumulate(const float* x, float factor, float* y, int count);

// The index of the first maximum; n is a multiple of 16. NaNs never win.
int32_t arg_max(const float* x, int n);
// y = x - log Σ exp(x)
void log_softmax(const float* x, float* y, int n);

// y = eˣ for n a multiple of 4; relative error below 1e-6, arguments clamped to ±87.
void exponential(const float* x, float* y, int n);

}  // namespace octavo::fp32
