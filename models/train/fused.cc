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
};

// kT[c][j] = k[j][c], so that the loops over keys vectorise.
void transpose(const float* k, int64_t stride, int64_t keys, int64_t width, float* out) {
  for (int64_t j = 0; j < keys; ++j)
    for (int64_t c = 0; c < width; ++c) out[c * keys + j] = k[j * stride + c];
}

// Rounds n non-negative or signed numbers to `limit` steps of their maximum: what the engine's re-scaling R does to a row.
void round_row(const float* x, float* y, int64_t n, float limit) {
  float max = 0;
  for (int64_t j = 0; j < n; ++j) max = std::max(max, std::fabs(x[j]));
  const float scale = max > 0 ? limit / max : 0.0f, inverse = max / limit;
  for (int64_t j = 0; j < n; ++j) y[j] = std::nearbyint(x[j] * scale) * inverse;
}

// p[j] = ReLU(q·k_j·scale + b)^n + |δ| for the visible keys, or exp(q·k_j·scale - max) when degree is 0; returns Σp.
// With `quantized`, scores and weights are rounded where the engine rounds them.
float weights(const Head& h, const float* q, const float* kT, int64_t seen, float scale, int degree, float b, float delta,
              bool quantized, float* p, float* u) {
  std::fill(u, u + seen, 0.0f);
  for (int64_t c = 0; c < h.width; ++c) {
    const float qc = q[c] * scale;
    const float* row = kT + c * h.keys;
    for (int64_t j = 0; j < seen; ++j) u[j] += qc * row[j];
  }
  float sum = 0;
  if (degree == 0) {
    float top = u[0];
    for (int64_t j = 1; j < seen; ++j) top = std::max(top, u[j]);
    for (int64_t j = 0; j < seen; ++j) sum += p[j] = std::exp(u[j] - top);
  } else {
    for (int64_t j = 0; j < seen; ++j) u[j] = std::max(u[j] + b, 0.0f);
    if (quantized) round_row(u, u, seen, 127);
    std::copy(u, u + seen, p);
    for (int d = 1; d < degree; ++d)
      for (int64_t j = 0; j < seen; ++j) p[j] *= u[j];
    for (int64_t j = 0; j < seen; ++j) sum += p[j] += delta;
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
  std::vector<float> kT(kMaxLength * width);
  float p[kMaxLength], u[kMaxLength];
  const float scale = 1.0f / std::sqrt(float(width));
  const int64_t y_stride = heads * width;
  for_each_head(q, q_stride, k, v, kv_stride, q_off, k_off, sentences, heads, width, causal != 0,
                [&](int64_t h, int64_t q0, int64_t, const Head& head) {
                  transpose(head.k, kv_stride, head.keys, width, kT.data());
                  for (int64_t i = 0; i < head.queries; ++i) {
                    const int64_t seen = head.visible(i);
                    const float sum = weights(head, head.q + i * q_stride, kT.data(), seen, scale, degree, b[h],
                                              std::fabs(delta[h]), quantized != 0, p, u);
                    float* out = y + (q0 + i) * y_stride + h * width;
                    std::fill(out, out + width, 0.0f);
                    for (int64_t j = 0; j < seen; ++j) {
                      const float pj = p[j];
                      const float* vj = head.v + j * kv_stride;
                      for (int64_t c = 0; c < width; ++c) out[c] += pj * vj[c];
                    }
                    const float inv = 1.0f / sum;
                    for (int64_t c = 0; c < width; ++c) out[c] *= inv;
                  }
                });
}

// Recomputes the weights instead of storing them: they are cheap and would fill the cache. dk, dv, db, dδ accumulate.
void attention_backward(const float* q, int64_t q_stride, const float* k, const float* v, int64_t kv_stride, const int64_t* q_off,
                        const int64_t* k_off, int64_t sentences, int64_t heads, int64_t width, int causal, int degree,
                        int quantized, const float* b, const float* delta, const float* y, const float* dy, float* dq, float* dk, float* dv,
                        float* db, float* ddelta) {
  std::vector<float> kT(kMaxLength * width), vT(kMaxLength * width), dkT(kMaxLength * width), dvT(kMaxLength * width);
  float p[kMaxLength], u[kMaxLength], dp[kMaxLength];
  const float scale = 1.0f / std::sqrt(float(width));
  const int64_t y_stride = heads * width;
  for_each_head(
      q, q_stride, k, v, kv_stride, q_off, k_off, sentences, heads, width, causal != 0,
      [&](int64_t h, int64_t q0, int64_t k0, const Head& head) {
        const int64_t keys = head.keys;
        transpose(head.k, kv_stride, keys, width, kT.data());
        transpose(head.v, kv_stride, keys, width, vT.data());
        std::fill(dkT.begin(), dkT.begin() + keys * width, 0.0f);
        std::fill(dvT.begin(), dvT.begin() + keys * width, 0.0f);
        float db_head = 0, ddelta_head = 0;
        for (int64_t i = 0; i < head.queries; ++i) {
          const int64_t seen = head.visible(i);
          const float* qi = head.q + i * q_stride;
          const float sum = weights(head, qi, kT.data(), seen, scale, degree, b[h], std::fabs(delta[h]), quantized != 0, p, u);
          const float* yi = y + (q0 + i) * y_stride + h * width;
          const float* dyi = dy + (q0 + i) * y_stride + h * width;
          const float inv = 1.0f / sum;
          float dot = 0;
          for (int64_t c = 0; c < width; ++c) dot += dyi[c] * yi[c];
          for (int64_t j = 0; j < seen; ++j) dp[j] = -dot;
          for (int64_t c = 0; c < width; ++c) {
            const float d = dyi[c], dn = d * inv;
            const float* vc = vT.data() + c * keys;
            float* dvc = dvT.data() + c * keys;
            for (int64_t j = 0; j < seen; ++j) dp[j] += d * vc[j], dvc[j] += dn * p[j];
          }
          if (degree == 0) {
            for (int64_t j = 0; j < seen; ++j) dp[j] *= inv * p[j];
          } else {
            float total = 0;
            for (int64_t j = 0; j < seen; ++j) total += dp[j] *= inv;
            ddelta_head += total;
            for (int d = 1; d < degree; ++d)
              for (int64_t j = 0; j < seen; ++j) dp[j] *= u[j];
            float bias = 0;
            for (int64_t j = 0; j < seen; ++j) bias += dp[j] = u[j] > 0 ? dp[j] * degree : 0.0f;
            db_head += bias;
          }
          float* dqi = dq + (q0 + i) * q_stride + h * width;
          for (int64_t c = 0; c < width; ++c) {
            const float* kc = kT.data() + c * keys;
            float* dkc = dkT.data() + c * keys;
            const float qc = qi[c] * scale;
            float acc = 0;
            for (int64_t j = 0; j < seen; ++j) acc += dp[j] * kc[j], dkc[j] += dp[j] * qc;
            dqi[c] = acc * scale;
          }
        }
        for (int64_t j = 0; j < keys; ++j) {
          float* dkj = dk + (k0 + j) * kv_stride + h * width;
          float* dvj = dv + (k0 + j) * kv_stride + h * width;
          for (int64_t c = 0; c < width; ++c) dkj[c] = dkT[c * keys + j], dvj[c] = dvT[c * keys + j];
        }
        db[h] += db_head;
        ddelta[h] += delta[h] < 0 ? -ddelta_head : ddelta_head;
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
