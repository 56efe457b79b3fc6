#include "kernels/float_kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/simd.h"
#include "log_softmax.h"

namespace octavo::fp32 {

// The constants of eˣ. Not declared constant: see simd::in_register16, what is read from memory need not be made anew.
extern float exponential_constants[];
float exponential_constants[] = {87.0f,      -87.0f,     12582912.0f, 1.44269504f, 0.693359375f, 2.12194440e-4f,
                                 1.0f / 720, 1.0f / 120, 1.0f / 24,   1.0f / 6,    1.0f / 2,     1.0f};

namespace {

constexpr int kPanel = 8;
// Inputs per pass: a panel's share (16 kB) then stays in the first-level cache while all rows meet it.
constexpr int kInputBlock = 512;
// Rows per pass: their share of the inputs (128 kB) stays in the second-level cache while all
// panels meet it.
constexpr int kRowBlock = 64;

v128_t load(const float* p) { return wasm_v128_load(p); }
v128_t splat(float x) { return wasm_f32x4_splat(x); }

// The product's inner operation. Relaxed SIMD rounds once where the CPU can, which differs between
// CPUs in the last bit.
v128_t multiply_add(v128_t a, v128_t b, v128_t c) {
#ifdef __wasm_relaxed_simd__
  return wasm_f32x4_relaxed_madd(a, b, c);
#else
  return wasm_f32x4_add(wasm_f32x4_mul(a, b), c);
#endif
}

// max(a, b) as one instruction on every CPU.
v128_t maximum(v128_t a, v128_t b) { return wasm_f32x4_pmax(a, b); }

float sum_lanes(v128_t x) {
  const v128_t pairs = wasm_f32x4_add(x, wasm_i32x4_shuffle(x, x, 2, 3, 2, 3));
  return wasm_f32x4_extract_lane(pairs, 0) + wasm_f32x4_extract_lane(pairs, 1);
}

float max_lanes(v128_t x) {
  const v128_t pairs = maximum(x, wasm_i32x4_shuffle(x, x, 2, 3, 2, 3));
  return std::max(wasm_f32x4_extract_lane(pairs, 0), wasm_f32x4_extract_lane(pairs, 1));
}

// All ones in the lanes below `count` (1..3).
v128_t first_lanes(int count) { return wasm_i32x4_lt(wasm_i32x4_make(0, 1, 2, 3), wasm_i32x4_splat(count)); }

struct Operands {
  const float* x;  // (rows, inputs), rows x_stride apart
  int64_t x_stride;
  const float* panel;  // first input of the first panel
  int64_t panel_stride;
  const float* bias;  // of the first column, or null
  float* y;
  int64_t y_stride;
};

// Rows × 8·Panels outputs in registers, `inputs` products added to each, one after another: the
// order of the additions is the same in every shape of tile. The first pass starts from the bias,
// later ones from what the earlier left in y.
template <int Rows, int Panels>
inline void tile(const Operands& at, int inputs, bool first, bool last, Into into) {
  constexpr int kVectors = 2 * Panels;
  v128_t sum[Rows][kVectors];
  for (int v = 0; v < kVectors; ++v) {
    const v128_t bias = first && at.bias != nullptr ? load(at.bias + 4 * v) : splat(0);
    const bool continues = !first || into == Into::kAdd;
    for (int r = 0; r < Rows; ++r) {
      sum[r][v] = continues ? wasm_f32x4_add(load(at.y + r * at.y_stride + 4 * v), bias) : bias;
    }
  }
  const float* panel = at.panel;
  for (int k = 0; k < inputs; ++k, panel += kPanel) {
    v128_t w[kVectors];
    for (int v = 0; v < kVectors; ++v) w[v] = load(panel + (v / 2) * at.panel_stride + (v % 2) * 4);
    for (int r = 0; r < Rows; ++r) {
      const v128_t x = wasm_v128_load32_splat(at.x + r * at.x_stride + k);
      for (int v = 0; v < kVectors; ++v) sum[r][v] = multiply_add(x, w[v], sum[r][v]);
    }
  }
  const bool relu = last && into == Into::kRelu;
  for (int r = 0; r < Rows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      wasm_v128_store(at.y + r * at.y_stride + 4 * v, relu ? maximum(splat(0), sum[r][v]) : sum[r][v]);
    }
  }
}

// One or two rows: wider tiles, because one panel has too few sums under way at the same time to
// hide the latency of additions.
template <int Rows, int Panels>
void few_rows(Operands at, int inputs, int outputs, Into into) {
  const auto advance = [&](int panels) {
    at.panel += panels * at.panel_stride;
    at.y += panels * kPanel;
    if (at.bias != nullptr) at.bias += panels * kPanel;
  };
  int panels = outputs / kPanel;
  for (; panels >= Panels; panels -= Panels, advance(Panels)) tile<Rows, Panels>(at, inputs, true, true, into);
  for (; panels > 0; --panels, advance(1)) tile<Rows, 1>(at, inputs, true, true, into);
}

// Three or more rows: each panel meets all rows of the block while it is in the cache, four at a
// time; never one alone.
void many_rows(const Operands& from, int rows, int inputs, int outputs, Into into) {
  for (int k = 0; k < inputs; k += kInputBlock) {
    const int depth = std::min(kInputBlock, inputs - k);
    const bool first = k == 0, last = k + depth == inputs;
    for (int j = 0; j < outputs; j += kPanel) {
      Operands at = from;
      at.x += k;
      at.panel += (j / kPanel) * from.panel_stride + int64_t{k} * kPanel;
      at.y += j;
      if (at.bias != nullptr) at.bias += j;
      for (int left = rows; left > 0;) {
        const int now = left == 5 ? 3 : std::min(left, 4);
        if (now == 4) tile<4, 1>(at, depth, first, last, into);
        if (now == 3) tile<3, 1>(at, depth, first, last, into);
        if (now == 2) tile<2, 1>(at, depth, first, last, into);
        at.x += now * at.x_stride;
        at.y += now * at.y_stride;
        left -= now;
      }
    }
  }
}

// Σ f(x_i) over groups of four vectors; n is a multiple of 16.
template <class F>
float sum_over(const float* x, int n, F f) {
  v128_t sum[4] = {splat(0), splat(0), splat(0), splat(0)};
  for (int i = 0; i < n; i += 16) {
    for (int v = 0; v < 4; ++v) sum[v] = wasm_f32x4_add(sum[v], f(load(x + i + 4 * v)));
  }
  return sum_lanes(wasm_f32x4_add(wasm_f32x4_add(sum[0], sum[1]), wasm_f32x4_add(sum[2], sum[3])));
}

void normalise(const float* x, float mean, float factor, const float* g, const float* b, float* y, int n) {
  const v128_t m = splat(mean), f = splat(factor);
  for (int i = 0; i < n; i += 4) {
    const v128_t z = wasm_f32x4_mul(wasm_f32x4_sub(load(x + i), m), f);
    wasm_v128_store(y + i, wasm_f32x4_add(wasm_f32x4_mul(load(g + i), z), load(b + i)));
  }
}

// w_j = f(w_j) for j < count; returns Σ. The last group may run over the end of the row: its
// surplus lanes do not count.
template <class F>
float map_and_sum(float* weights, int count, F f) {
  v128_t sum = splat(0);
  int j = 0;
  for (; j + 4 <= count; j += 4) {
    const v128_t w = f(load(weights + j));
    wasm_v128_store(weights + j, w);
    sum = wasm_f32x4_add(sum, w);
  }
  if (j < count) {
    const v128_t w = wasm_v128_and(f(load(weights + j)), first_lanes(count - j));
    wasm_v128_store(weights + j, w);
    sum = wasm_f32x4_add(sum, w);
  }
  return sum_lanes(sum);
}

template <int Degree>
float polynomial_of_degree(float* weights, int count, float scale, float b, float delta) {
  const v128_t s = splat(scale), shift = splat(b), d = splat(delta), zero = splat(0);
  return map_and_sum(weights, count, [&](v128_t w) {
    const v128_t base = maximum(zero, wasm_f32x4_add(wasm_f32x4_mul(w, s), shift));
    v128_t power = base;
    for (int i = 1; i < Degree; ++i) power = wasm_f32x4_mul(power, base);
    return wasm_f32x4_add(power, d);
  });
}

// eˣ = 2ⁿ·eʳ with n = round(x/ln 2) and |r| <= ln 2 / 2, where seven terms of the series are within
// 2e-7. Adding 1.5·2²³ rounds to an integer and leaves it in the low bits, from where a shift
// carries it to the exponent.
v128_t exponential(v128_t x) {
  const auto constant = [](int i) { return wasm_v128_load32_splat(exponential_constants + i); };
  x = wasm_f32x4_pmin(constant(0), maximum(constant(1), x));
  const v128_t magic = constant(2);
  const v128_t shifted = wasm_f32x4_add(wasm_f32x4_mul(x, constant(3)), magic);
  const v128_t n = wasm_f32x4_sub(shifted, magic);
  // ln 2 in two parts: the first has so few bits that its product with n is exact.
  v128_t r = wasm_f32x4_sub(x, wasm_f32x4_mul(n, constant(4)));
  r = wasm_f32x4_add(r, wasm_f32x4_mul(n, constant(5)));
  v128_t y = constant(6);
  for (const int term : {7, 8, 9, 10, 11, 11}) y = wasm_f32x4_add(wasm_f32x4_mul(y, r), constant(term));
  return wasm_i32x4_add(y, wasm_i32x4_shl(shifted, 23));
}

}  // namespace

void product(const float* x, const float* panels, const float* bias, float* y, int rows, int inputs, int outputs,
             Into into) {
  Operands at{x, inputs, panels, int64_t{inputs} * kPanel, bias, y, outputs};
  if (rows == 1) return few_rows<1, 2>(at, inputs, outputs, into);
  if (rows == 2) return few_rows<2, 2>(at, inputs, outputs, into);
  while (rows > 0) {
    // A block may be a little longer than kRowBlock, so that no single row is left over.
    const int now = rows < kRowBlock + 3 ? rows : kRowBlock;
    many_rows(at, now, inputs, outputs, into);
    at.x += now * at.x_stride;
    at.y += now * at.y_stride;
    rows -= now;
  }
}

void l1_norm(const float* x, const float* g, const float* b, float* y, int n) {
  constexpr float kC = 1.25331414f;  // √(π/2), the ratio of standard deviation to mean absolute deviation
  const float size = static_cast<float>(n);
  const float mean = sum_over(x, n, [](v128_t v) { return v; }) / size;
  const v128_t m = splat(mean);
  const float deviation = sum_over(x, n, [&](v128_t v) { return wasm_f32x4_abs(wasm_f32x4_sub(v, m)); }) / size;
  normalise(x, mean, 1 / (kC * deviation + 1e-6f), g, b, y, n);
}

void l2_norm(const float* x, const float* g, const float* b, float* y, int n) {
  const float size = static_cast<float>(n);
  const float mean = sum_over(x, n, [](v128_t v) { return v; }) / size;
  const v128_t m = splat(mean);
  const auto square = [&](v128_t v) {
    const v128_t c = wasm_f32x4_sub(v, m);
    return wasm_f32x4_mul(c, c);
  };
  normalise(x, mean, 1 / std::sqrt(sum_over(x, n, square) / size + 1e-5f), g, b, y, n);
}

void scores(const float* q, const float* keys, int stride, int count, int width, float* weights) {
  for (int j = 0; j < count; j += 4) {
    // Behind the end the last key is taken again: harmless, and no lane holds garbage.
    const float* key[4];
    for (int t = 0; t < 4; ++t) key[t] = keys + int64_t{std::min(j + t, count - 1)} * stride;
    v128_t sum[4] = {splat(0), splat(0), splat(0), splat(0)};
    for (int c = 0; c < width; c += 4) {
      const v128_t x = load(q + c);
      for (int t = 0; t < 4; ++t) sum[t] = multiply_add(x, load(key[t] + c), sum[t]);
    }
    // Four horizontal sums at once.
    const v128_t a =
        wasm_f32x4_add(wasm_i32x4_shuffle(sum[0], sum[1], 0, 4, 1, 5), wasm_i32x4_shuffle(sum[0], sum[1], 2, 6, 3, 7));
    const v128_t b =
        wasm_f32x4_add(wasm_i32x4_shuffle(sum[2], sum[3], 0, 4, 1, 5), wasm_i32x4_shuffle(sum[2], sum[3], 2, 6, 3, 7));
    wasm_v128_store(weights + j, wasm_f32x4_add(wasm_i64x2_shuffle(a, b, 0, 2), wasm_i64x2_shuffle(a, b, 1, 3)));
  }
}

float polynomial(float* weights, int count, float scale, float b, float delta, int degree) {
  switch (degree) {
    case 1:
      return polynomial_of_degree<1>(weights, count, scale, b, delta);
    case 2:
      return polynomial_of_degree<2>(weights, count, scale, b, delta);
    case 3:
      return polynomial_of_degree<3>(weights, count, scale, b, delta);
    case 4:
      return polynomial_of_degree<4>(weights, count, scale, b, delta);
    default:
      return polynomial_of_degree<5>(weights, count, scale, b, delta);
  }
}

float softmax(float* weights, int count, float scale) {
  v128_t top = load(weights);
  for (int j = 4; j < count; j += 4) top = maximum(top, load(weights + j));  // surplus lanes repeat the last score
  const v128_t s = splat(scale), max = splat(max_lanes(top));
  return map_and_sum(weights, count, [&](v128_t w) { return exponential(wasm_f32x4_mul(wasm_f32x4_sub(w, max), s)); });
}

namespace {

template <int Vectors>
void weighted_columns(const float* weights, const float* values, int stride, int count, float factor, float* out) {
  v128_t sum[Vectors];
  for (int v = 0; v < Vectors; ++v) sum[v] = splat(0);
  for (int j = 0; j < count; ++j, values += stride) {
    const v128_t w = wasm_v128_load32_splat(weights + j);
    for (int v = 0; v < Vectors; ++v) sum[v] = multiply_add(w, load(values + 4 * v), sum[v]);
  }
  for (int v = 0; v < Vectors; ++v) wasm_v128_store(out + 4 * v, wasm_f32x4_mul(sum[v], splat(factor)));
}

}  // namespace

void weighted_sum(const float* weights, const float* values, int stride, int count, int width, float factor,
                  float* out) {
  int c = 0;
  for (; c + 32 <= width; c += 32) weighted_columns<8>(weights, values + c, stride, count, factor, out + c);
  for (; c + 8 <= width; c += 8) weighted_columns<2>(weights, values + c, stride, count, factor, out + c);
}

void accumulate(const float* x, float factor, float* y, int count) {
  for (int i = 0; i < count; ++i) y[i] += factor * x[i];
}

int32_t arg_max(const float* x, int n) {
  const v128_t lowest = splat(-std::numeric_limits<float>::infinity());
  v128_t top[4] = {lowest, lowest, lowest, lowest};
  for (int i = 0; i < n; i += 16) {
    for (int v = 0; v < 4; ++v) top[v] = maximum(top[v], load(x + i + 4 * v));
  }
  const float max = max_lanes(maximum(maximum(top[0], top[1]), maximum(top[2], top[3])));
  return static_cast<int32_t>(std::find(x, x + n, max) - x) % n;  // all NaN: 0
}

void log_softmax(const float* x, float* y, int n) {
  const float max = x[arg_max(x, n)];
  const v128_t m = splat(max);
  const float sum = sum_over(x, n, [&](v128_t v) { return exponential(wasm_f32x4_sub(v, m)); });
  const v128_t logarithm = splat(max + exact_log(sum));
  for (int i = 0; i < n; i += 4) wasm_v128_store(y + i, wasm_f32x4_sub(load(x + i), logarithm));
}

void exponential(const float* x, float* y, int n) {
  for (int i = 0; i < n; i += 4) wasm_v128_store(y + i, exponential(load(x + i)));
}

}  // namespace octavo::fp32
