#include "reference_network.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "fixed_point.h"
#include "kernels/kernel.h"

namespace octavo {
namespace {

constexpr int64_t kGainMax = 32767;

double round_away(double x) { return std::trunc(x + std::copysign(0.5, x)); }

double clamped(double w, double scale, double limit) { return std::clamp(round_away(w * scale), -limit, limit); }

// The clip of quantizer.cc that loses least; the paper does not clip.
double row_scale(const float* w, int n, double limit, bool clip) {
  constexpr double kClips[] = {1, 0.97, 0.94, 0.9, 0.85, 0.8}, kLargest = 0x1p20;
  double max = 0, best = 0, least = std::numeric_limits<double>::infinity();
  for (int k = 0; k < n; ++k) max = std::max(max, std::abs(double{w[k]}));
  if (max == 0) return 0;
  if (!clip) return std::min(limit / max, kLargest);
  for (const double part : kClips) {
    const double scale = std::min(limit / (max * part), kLargest);
    double loss = 0;
    for (int k = 0; k < n; ++k) {
      const double error = w[k] - clamped(w[k], scale, limit) * (1 / scale);
      loss += error * error;
    }
    if (loss < least) least = loss, best = scale;
  }
  return best;
}

// One scale per row. In fixed-point arithmetic a row's scale is the common one times 2^15 over a
// Q15 multiplier, as in the model file.
ScaledMatrix quantize(const float* w, int rows, int cols, int bits, bool paper, bool one_scale) {
  ScaledMatrix matrix{rows, cols, bits, std::vector<int16_t>(size_t(rows) * cols), {}, 1.0f};
  const double limit = (1 << (bits - 1)) - 1;
  std::vector<double> scales;
  double least = std::numeric_limits<double>::infinity();
  for (int j = 0; j < rows; ++j) {
    scales.push_back(row_scale(w + int64_t{j} * cols, cols, limit, !paper));
    if (scales.back() > 0) least = std::min(least, scales.back());
  }
  if (least < std::numeric_limits<double>::infinity()) {
    matrix.common = static_cast<float>(paper ? least : least * 32767 / 32768);
    if (one_scale) std::ranges::fill(scales, least);
  }
  const double whole = 32768.0 * double{matrix.common};
  for (int j = 0; j < rows; ++j) {
    double scale = scales[j] > 0 ? scales[j] : double{matrix.common};
    float stored = static_cast<float>(scale);
    if (!paper) {
      const double column = scales[j] > 0 ? std::clamp(round_away(whole / scale), 1.0, 32767.0) : 32767.0;
      scale = whole / column;
      stored = matrix.common * (32768.0f / static_cast<float>(column));
    }
    matrix.row_scale.push_back(stored);
    for (int64_t k = int64_t{j} * cols; k < (int64_t{j} + 1) * cols; ++k) {
      matrix.x[k] = static_cast<int16_t>(clamped(w[k], scale, limit));
    }
  }
  return matrix;
}

// What the leaves of a FloatNetwork become ...
class FromFloat {
 public:
  FromFloat(const ReferenceOptions& options, uint32_t width) : options_(options), width_(width) {}

  ReferenceLinear operator()(const FloatLinear& from) const {
    const int rows = static_cast<int>(from.outputs), cols = static_cast<int>(from.inputs);
    std::vector<float> w(size_t(rows) * cols);
    for (int64_t j = 0; j < rows; ++j) {
      const float* panel = from.panels + j / 8 * 8 * cols + j % 8;
      for (int64_t k = 0; k < cols; ++k) w[j * cols + k] = panel[k * 8];
    }
    ReferenceLinear linear;
    const bool one_scale = options_.matrix_scales && from.bias != nullptr;  // the embedding has no bias
    linear.weight = quantize(w.data(), rows, cols, options_.weight_bits, options_.arithmetic.paper(), one_scale);
    if (from.bias != nullptr) linear.bias = vector({from.bias, from.outputs}, kWideMax);
    linear.real = from;
    return linear;
  }

  ReferenceNorm operator()(const FloatNorm& from) const {
    return {vector({from.g, width_}, kGainMax), vector({from.b, width_}, kWideMax), from};
  }

 private:
  ScaledTensor vector(std::span<const float> real, int64_t wide_limit) const {
    const ScalePropagation& how = options_.arithmetic;
    return how.paper() ? quantize_row(real, how.limit(), Width::kStored, how.bits)
                       : quantize_row(real, wide_limit, Width::kWide, 0);
  }

  const ReferenceOptions& options_;
  uint32_t width_;
};

// ... and those of an IntegerNetwork.
class FromInteger {
 public:
  FromInteger(const ReferenceOptions& options, uint32_t width) : options_(options), width_(width) {}

  ReferenceLinear operator()(const Linear& from) const {
    ReferenceLinear linear{};
    ScaledMatrix& w = linear.weight;
    w.rows = static_cast<int>(from.outputs);
    w.cols = static_cast<int>(from.inputs);
    w.bits = 7;
    w.common = from.scale;
    for (int64_t j = 0; j < w.rows; ++j) {
      w.row_scale.push_back(from.scale * (32768.0f / static_cast<float>(from.column[j])));
      for (int64_t k = 0; k < w.cols; ++k) {
        w.x.push_back(static_cast<int16_t>(from.panels[panel_index(j, k, w.cols)] - kWeightOffset));
      }
    }
    if (from.bias != nullptr) linear.bias = vector(from.bias, from.outputs, from.bias_scale);
    return linear;
  }

  ReferenceNorm operator()(const Norm& from) const {
    return {vector(from.gain, width_, from.gain_scale), vector(from.bias, width_, from.bias_scale), {}};
  }

 private:
  ScaledTensor vector(const int16_t* x, uint32_t n, float scale) const {
    ScaledTensor row(1, static_cast<int>(n), Width::kWide);
    std::copy_n(x, n, row.row(0));
    row.row_scale[0] = scale;
    const ScalePropagation& how = options_.arithmetic;
    if (!how.paper()) return row;
    return quantize_row(row.dequantized(), how.limit(), Width::kStored, how.bits);
  }

  const ReferenceOptions& options_;
  uint32_t width_;
};

// Both networks have the same structure, so one function reads them.
template <class Attention, class Make>
ReferenceAttention attention(const Attention& from, const Make& make) {
  return {make(from.q), make(from.k), make(from.v), make(from.out), from.b, from.delta};
}

template <class Layer, class Make>
ReferenceLayer layer(const Layer& from, const Make& make) {
  ReferenceLayer to{};
  to.self_norm = make(from.self_norm);
  to.self_attn = attention(from.self_attn, make);
  to.ffn_norm = make(from.ffn_norm);
  to.w1 = make(from.w1);
  to.w2 = make(from.w2);
  return to;
}

template <class Network, class Make>
ReferenceNetwork network(const Network& from, const Make& make) {
  ReferenceNetwork to{};
  to.shape = from.shape;
  to.embedding = make(from.embedding);
  to.rotation = from.rotation;
  const bool translates = !from.encoder.empty();
  for (const auto& part : from.encoder) to.encoder.push_back(layer(part, make));
  if (translates) to.encoder_norm = make(from.encoder_norm);
  for (const auto& part : from.decoder) {
    ReferenceLayer& added = to.decoder.emplace_back(layer(part, make));
    if (!translates) continue;
    added.cross_norm = make(part.cross_norm);
    added.cross_attn = attention(part.cross_attn, make);
  }
  to.decoder_norm = make(from.decoder_norm);
  return to;
}

}  // namespace

ReferenceNetwork reference_network(const FloatNetwork& from, const ReferenceOptions& options) {
  return network(from, FromFloat(options, from.shape.width));
}

ReferenceNetwork reference_network(const IntegerNetwork& from, const ReferenceOptions& options) {
  return network(from, FromInteger(options, from.shape.width));
}

}  // namespace octavo
