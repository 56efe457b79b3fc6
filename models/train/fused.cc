// The element-wise half of a training step, fused: L1 layer norm, polynomial (or softmax) attention over ragged sentences,
// and label-smoothed cross-entropy. Matrix products stay with BLAS; everything here runs single-threaded because training
// uses one process per core. Compiled on first use by fused.py; all tensors are contiguous float32.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {
constexpr float kC = 1.2533141373155001f;  // √(π/2), the ratio of standard deviation to mean absolute deviation
constexpr int kMaxLength = 1024;
}  // namespace

extern "C" {

// y = g ⊙ (x-μ)·r + b with r = 1 / (C·mean|x-μ| + ε); μ and r are kept for the backward pass.
void l1_norm_forward(const float* x, const float* g, const float* b, float* y, float* mu, float* r, int64_t rows, int64_t n) {
  for (int64_t i = 0; i < rows; ++i, x += n, y += n) {
    float sum = 0, abs = 0;
    for (int64_t j = 0; j < n; ++j) sum += x[j];
    const float m = sum / n;
    for (int64_t j = 0; j < n; ++j) abs += std::fabs(x[j] - m);
    const float s = 1.0f / (kC * abs / n + 1e-6f);
    mu[i] = m, r[i] = s;
    for (int64_t j = 0; j < n; ++j) y[j] = g[j] * ((x[j] - m) * s) + b[j];
  }
}

// dx = r·(h - mean(h)) with h = g⊙dy - (C/n)·sign(x-μ)·Σ(g⊙dy⊙z), z the normalised input.
void l1_norm_backward(const float* x, const float* g, const float* mu, const float* r, const float* dy, float* dx, float* dg,
                      float* db, int64_t rows, int64_t n) {
  std::vector<float> h(n);
  for (int64_t i = 0; i < rows; ++i, x += n, dy += n, dx += n) {
    const float m = mu[i], s = r[i];
    float dot = 0, mean = 0;
    for (int64_t j = 0; j < n; ++j) {
      const float z = (x[j] - m) * s, d = dy[j];
      dg[j] += d * z, db[j] += d;
      dot += d * g[j] * z;
    }
    const float k = kC * dot / n;
    for (int64_t j = 0; j < n; ++j) {
      h[j] = dy[j] * g[j] - (x[j] > m ? k : x[j] < m ? -k : 0.0f);
      mean += h[j];
    }
    mean /= n;
    for (int64_t j = 0; j < n; ++j) dx[j] = s * (h[j] - mean);
  }
}

}  // extern "C"

namespace {

// One head of one sentence: queries i see keys 0..visible(i). Rows are `stride` floats apart, `w` = head width.
struct Head {
  const float *q, *k, *v;
  int64_t q_stride, kv_stride, queries, keys, width;
  bool causal;
  int64_t visible(int64_t i) const { return causal ? i + 1 : keys; }
  int64_t span() const { return padded(keys); }
  // Rows over the keys are filled up to whole vectors, so that no loop has a remainder.
  static int64_t padded(int64_t n) { return (n + 7) / 8 * 8; }
};

using Vector = float __attribute__((vector_size(32), aligned(4), may_alias));
using Lanes = int32_t __attribute__((vector_size(32)));

// Eight rows of eight become columns: pairs, then quads, then halves change places.
void transpose8(Vector r[8]) {
  Vector t[8];
  for (int i = 0; i < 8; i += 2) {
    t[i] = __builtin_shuffle(r[i], r[i + 1], Lanes{0, 8, 1, 9, 4, 12, 5, 13});
    t[i + 1] = __builtin_shuffle(r[i], r[i + 1], Lanes{2, 10, 3, 11, 6, 14, 7, 15});
  }
  Vector u[8];
  for (int i = 0; i < 8; i += 4)
    for (int j = 0; j < 2; ++j) {
      u[i + 2 * j] = __builtin_shuffle(t[i + j], t[i + j + 2], Lanes{0, 1, 8, 9, 4, 5, 12, 13});
      u[i + 2 * j + 1] = __builtin_shuffle(t[i + j], t[i + j + 2], Lanes{2, 3, 10, 11, 6, 7, 14, 15});
    }
  for (int i = 0; i < 4; ++i) {
    r[i] = __builtin_shuffle(u[i], u[i + 4], Lanes{0, 1, 2, 3, 8, 9, 10, 11});
    r[i + 4] = __builtin_shuffle(u[i], u[i + 4], Lanes{4, 5, 6, 7, 12, 13, 14, 15});
  }
}

Vector& at(float* x, int64_t j) { return *reinterpret_cast<Vector*>(x + j); }

// The lanes of x whose place, counted from j, is below n; zero in the others.
Vector below(Vector x, int64_t j, int64_t n) {
  return Lanes{0, 1, 2, 3, 4, 5, 6, 7} < static_cast<int32_t>(n - j) ? x : Vector{};
}

float sum_of(Vector x) {
  x += __builtin_shuffle(x, Lanes{4, 5, 6, 7, 0, 1, 2, 3});
  x += __builtin_shuffle(x, Lanes{2, 3, 0, 1, 6, 7, 4, 5});
  return x[0] + x[1];
}

// kT[c][j] = k[j][c], rows `span` apart and filled up by zeros, so that the loops over keys vectorise.
void transpose(const float* k, const Head& h, float* out) {
  for (int64_t j = 0; j < h.span(); j += 8) {
    int64_t c = 0;
    for (; c + 8 <= h.width; c += 8) {
      Vector r[8];
      for (int i = 0; i < 8; ++i)
        r[i] = j + i < h.keys ? *reinterpret_cast<const Vector*>(k + (j + i) * h.kv_stride + c) : Vector{};
      transpose8(r);
      for (int i = 0; i < 8; ++i) at(out, (c + i) * h.span() + j) = r[i];
    }
    for (; c < h.width; ++c)
      for (int64_t i = j; i < j + 8; ++i) out[c * h.span() + i] = i < h.keys ? k[i * h.kv_stride + c] : 0.0f;
  }
}

// The rows of one head side by side: where they lie, a power of two apart, they would throw each other out of the cache.
const float* gathered(const float* x, int64_t stride, int64_t rows, int64_t width, std::vector<float>& out) {
  out.resize(std::max<size_t>(out.size(), rows * width));
  for (int64_t i = 0; i < rows; ++i) std::copy_n(x + i * stride, width, out.data() + i * width);
  return out.data();
}

// out[0..8·Vectors) = Σ_i p[i·p_stride]·rows[i·stride..], the sums in registers: two of each, as additions wait for each other.
template <int Vectors>
void weighted_sum_of(const float* p, int64_t p_stride, const float* rows, int64_t stride, int64_t count, float* out) {
  Vector even[Vectors], odd[Vectors];
  for (int v = 0; v < Vectors; ++v) even[v] = odd[v] = Vector{};  // in registers, where an initialiser would clear memory
  const auto add = [&](int64_t i, Vector* sum) __attribute__((always_inline)) {
    for (int v = 0; v < Vectors; ++v) sum[v] += p[i * p_stride] * reinterpret_cast<const Vector*>(rows + i * stride)[v];
  };
  int64_t i = 0;
  for (; i + 2 <= count; i += 2) add(i, even), add(i + 1, odd);
  if (i < count) add(i, even);
  for (int v = 0; v < Vectors; ++v) at(out, 8 * v) = even[v] + odd[v];
}

// The same for n floats. All of attention, forward and backward, is made of it.
void weighted_sum(const float* p, int64_t p_stride, const float* rows, int64_t stride, int64_t count, float* out, int64_t n) {
  int64_t c = 0;
  for (int64_t left; (left = (n - c) / 8) > 0; c += 8 * std::min<int64_t>(left, 5)) {
    const auto sum = left >= 5 ? weighted_sum_of<5> : left == 4 ? weighted_sum_of<4> : left == 3 ? weighted_sum_of<3>
                   : left == 2 ? weighted_sum_of<2> : weighted_sum_of<1>;
    sum(p, p_stride, rows + c, stride, count, out + c);
  }
  for (; c < n; ++c) {
    float sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += p[i * p_stride] * rows[i * stride + c];
    out[c] = sum;
  }
}

// Rounds n non-negative or signed numbers to `limit` steps of their maximum: what the engine's re-scaling R does to a row.
void round_row(const float* x, float* y, int64_t n, float limit) {
  float max = 0;
  for (int64_t j = 0; j < n; ++j) max = std::max(max, std::fabs(x[j]));
  const float scale = max > 0 ? limit / max : 0.0f, inverse = max / limit;
  for (int64_t j = 0; j < n; ++j) y[j] = std::nearbyint(x[j] * scale) * inverse;
}

// p[j] = ReLU(q·k_j·scale + b)^n + |δ| for the visible keys, or exp(q·k_j·scale - max) when degree is 0; returns Σp. p and u
// are zero from there to the next whole vector. With `quantized`, scores and weights are rounded where the engine rounds them.
float weights(const Head& h, const float* q, const float* kT, int64_t seen, float scale, int degree, float b, float delta,
              bool quantized, float* p, float* u) {
  const int64_t span = Head::padded(seen);
  weighted_sum(q, 1, kT, h.span(), h.width, u, span);
  float sum = 0;
  if (degree == 0) {
    for (int64_t j = 0; j < span; ++j) u[j] *= scale;
    float top = u[0];
    for (int64_t j = 1; j < seen; ++j) top = std::max(top, u[j]);
    for (int64_t j = 0; j < seen; ++j) sum += p[j] = std::exp(u[j] - top);
    std::fill(p + seen, p + span, 0.0f);
  } else {
    for (int64_t j = 0; j < span; j += 8) {
      const Vector x = at(u, j) * scale + b;
      at(u, j) = below(x > 0 ? x : Vector{}, j, seen);
    }
    if (quantized) round_row(u, u, seen, 127);
    Vector total{};
    for (int64_t j = 0; j < span; j += 8) {
      const Vector x = at(u, j);
      Vector power = x;
      for (int d = 1; d < degree; ++d) power *= x;
      total += at(p, j) = below(power + delta, j, seen);
    }
    sum = sum_of(total);
    if (quantized) round_row(p, p, seen, 127);
  }
  return sum;
}

template <class F>
void for_each_head(const float* q, int64_t q_stride, const float* k, const float* v, int64_t kv_stride, const int64_t* q_off,
                   const int64_t* k_off, int64_t sentences, int64_t heads, int64_t width, bool causal, F&& f) {
  for (int64_t s = 0; s < sentences; ++s)
    for (int64_t h = 0; h < heads; ++h)
      f(h, q_off[s], k_off[s],
        Head{q + q_off[s] * q_stride + h * width, k + k_off[s] * kv_stride + h * width, v + k_off[s] * kv_stride + h * width,
             q_stride, kv_stride, q_off[s + 1] - q_off[s], k_off[s + 1] - k_off[s], width, causal});
}

}  // namespace

extern "C" {

// y[i] = Σ_j p_ij v_j / Σ_j p_ij per head. Sentence s owns query rows q_off[s]..q_off[s+1] and key rows k_off[s]..k_off[s+1].
void attention_forward(const float* q, int64_t q_stride, const float* k, const float* v, int64_t kv_stride, const int64_t* q_off,
                       const int64_t* k_off, int64_t sentences, int64_t heads, int64_t width, int causal, int degree,
                       int quantized, const float* b, const float* delta, float* y) {
  std::vector<float> kT(kMaxLength * width), values;
  float p[kMaxLength], u[kMaxLength];
  const float scale = 1.0f / std::sqrt(float(width));
  const int64_t y_stride = heads * width;
  for_each_head(q, q_stride, k, v, kv_stride, q_off, k_off, sentences, heads, width, causal != 0,
                [&](int64_t h, int64_t q0, int64_t, const Head& head) {
                  transpose(head.k, head, kT.data());
                  const float* vs = gathered(head.v, kv_stride, head.keys, width, values);
                  for (int64_t i = 0; i < head.queries; ++i) {
                    const int64_t seen = head.visible(i);
                    const float sum = weights(head, head.q + i * q_stride, kT.data(), seen, scale, degree, b[h],
                                              std::fabs(delta[h]), quantized != 0, p, u);
                    float* out = y + (q0 + i) * y_stride + h * width;
                    weighted_sum(p, 1, vs, width, seen, out, width);
                    const float inv = 1.0f / sum;
                    for (int64_t c = 0; c < width; ++c) out[c] *= inv;
                  }
                });
}

// Recomputes the weights instead of keeping those of all layers. dk, dv are overwritten; db, dδ accumulate.
void attention_backward(const float* q, int64_t q_stride, const float* k, const float* v, int64_t kv_stride, const int64_t* q_off,
                        const int64_t* k_off, int64_t sentences, int64_t heads, int64_t width, int causal, int degree,
                        int quantized, const float* b, const float* delta, const float* y, const float* dy, float* dq, float* dk, float* dv,
                        float* db, float* ddelta) {
  std::vector<float> kT(kMaxLength * width), vT(kMaxLength * width), normal, scores, queries, keys, gradients;
  float p[kMaxLength], u[kMaxLength];
  const float scale = 1.0f / std::sqrt(float(width));
  const int64_t y_stride = heads * width;
  for_each_head(
      q, q_stride, k, v, kv_stride, q_off, k_off, sentences, heads, width, causal != 0,
      [&](int64_t h, int64_t q0, int64_t k0, const Head& head) {
        transpose(head.k, head, kT.data());
        transpose(head.v, head, vT.data());
        const float* qs = gathered(head.q, q_stride, head.queries, width, queries);
        const float* ks = gathered(head.k, kv_stride, head.keys, width, keys);
        const float* dys = gathered(dy + q0 * y_stride + h * width, y_stride, head.queries, width, gradients);
        normal.resize(std::max<size_t>(normal.size(), head.queries * head.span()));  // p / Σp, (queries, span)
        scores.resize(normal.size());                                                // gradient of q·k, likewise
        Vector db_head{}, ddelta_head{};
        for (int64_t i = 0; i < head.queries; ++i) {
          const int64_t seen = head.visible(i), span = Head::padded(seen);
          const float sum =
              weights(head, qs + i * width, kT.data(), seen, scale, degree, b[h], std::fabs(delta[h]), quantized != 0, p, u);
          const float* yi = y + (q0 + i) * y_stride + h * width;
          const float* dyi = dys + i * width;
          float *pi = normal.data() + i * head.span(), *dp = scores.data() + i * head.span();
          const float inv = 1.0f / sum;
          float dot = 0;
          for (int64_t c = 0; c < width; ++c) dot += dyi[c] * yi[c];
          weighted_sum(dyi, 1, vT.data(), head.span(), width, dp, span);
          for (int64_t j = 0; j < span; j += 8) {
            at(pi, j) = at(p, j) * inv;
            const Vector d = below((at(dp, j) - dot) * inv, j, seen);
            if (degree == 0) {
              at(dp, j) = d * at(p, j) * scale;
            } else {
              const Vector x = at(u, j);
              Vector slope = x > 0 ? d * float(degree) : Vector{};
              for (int power = 1; power < degree; ++power) slope *= x;
              at(dp, j) = slope * scale;
              ddelta_head += d;
              db_head += slope;
            }
          }
          weighted_sum(dp, 1, ks, width, seen, dq + (q0 + i) * q_stride + h * width, width);
        }
        for (int64_t j = 0; j < head.keys; ++j) {
          const int64_t first = head.causal ? j : 0, count = head.queries - first, place = first * head.span() + j;
          weighted_sum(normal.data() + place, head.span(), dys + first * width, width, count,
                       dv + (k0 + j) * kv_stride + h * width, width);
          weighted_sum(scores.data() + place, head.span(), qs + first * width, width, count,
                       dk + (k0 + j) * kv_stride + h * width, width);
        }
        db[h] += sum_of(db_head);
        ddelta[h] += delta[h] < 0 ? -sum_of(ddelta_head) : sum_of(ddelta_head);
      });
}

// Every row rounded to `limit` steps of its maximum.
void fake_quantize(const float* x, float* y, int64_t rows, int64_t n, float limit) {
  for (int64_t i = 0; i < rows; ++i) round_row(x + i * n, y + i * n, n, limit);
}

// Label-smoothed cross-entropy of each row; logits are overwritten by their gradient (times `weight`). Returns Σ of the
// smoothed losses, adds Σ of the plain ones (the number people quote) to *plain.
double smoothed_cross_entropy(float* logits, const int64_t* target, int64_t rows, int64_t n, float smoothing, float weight,
                              double* plain) {
  double total = 0;
  const float share = smoothing / n;
  for (int64_t i = 0; i < rows; ++i, logits += n) {
    float top = logits[0], sum = 0, mean = 0;
    for (int64_t j = 1; j < n; ++j) top = std::max(top, logits[j]);
    const float correct = logits[target[i]];
    for (int64_t j = 0; j < n; ++j) {
      mean += logits[j];
      sum += logits[j] = std::exp(logits[j] - top);
    }
    const float lse = std::log(sum) + top;
    mean /= n;
    *plain += lse - correct;
    total += lse - (1 - smoothing) * correct - smoothing * mean;
    const float inv = weight / sum;
    for (int64_t j = 0; j < n; ++j) logits[j] = logits[j] * inv - weight * share;
    logits[target[i]] -= weight * (1 - smoothing);
  }
  return total;
}

// Adam without weight decay on a flat slice of the parameters, and the moving average of the weights beside it.
void adam(float* w, const float* grad, float* m, float* v, float* average, int64_t n, float lr, float beta1, float beta2,
          float epsilon, float clip, int64_t step, float average_decay) {
  const float c1 = 1 / (1 - std::pow(beta1, float(step))), c2 = 1 / (1 - std::pow(beta2, float(step)));
  for (int64_t i = 0; i < n; ++i) {
    const float g = grad[i] * clip;
    m[i] = beta1 * m[i] + (1 - beta1) * g;
    v[i] = beta2 * v[i] + (1 - beta2) * g * g;
    w[i] -= lr * (m[i] * c1) / (std::sqrt(v[i] * c2) + epsilon);
    average[i] += (1 - average_decay) * (w[i] - average[i]);
  }
}

}  // extern "C"
