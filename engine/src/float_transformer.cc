#include "float_transformer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "arena.h"
#include "kernels/float_kernel.h"
#include "message.h"

namespace octavo {
namespace {

using fp32::Into;

// Rows that go through the feed-forward layer together, so that the hidden rows stay in cache.
constexpr int kRowBlock = 64;
// What the alignment of one head adds up to.
constexpr float kAlignmentUnit = 255;

// y = x·Wᵀ + b or one of its variants.   x: (rows, inputs), y: (rows, outputs)
void linear(const FloatLinear& w, const float* x, int rows, Into into, float* y) {
  fp32::product(x, w.panels, w.bias, y, rows, static_cast<int>(w.inputs), static_cast<int>(w.outputs), into);
}

}  // namespace

Result<std::unique_ptr<FloatTransformer>> FloatTransformer::create(std::shared_ptr<const ModelFile> file) {
  Result<FloatNetwork> network = FloatNetwork::view(*file);
  if (!network) return Error{network.error()};
  return std::unique_ptr<FloatTransformer>(new FloatTransformer(std::move(file), std::move(*network)));
}

FloatTransformer::FloatTransformer(std::shared_ptr<const ModelFile> file, FloatNetwork network)
    : file_(std::move(file)), network_(std::move(network)), width_(static_cast<int>(network_.shape.width)) {}

// ----------------------------------------------------------------------------------- the network

void FloatTransformer::encode(std::span<const int32_t> tokens, std::span<const int32_t> offsets) {
  if (network_.encoder.empty()) return;
  const int total = static_cast<int>(tokens.size());
  offsets_.assign(offsets.begin(), offsets.end());
  for (size_t s = 0; s + 1 < offsets.size(); ++s) {
    for (int i = offsets[s]; i < offsets[s + 1]; ++i)
      embed(tokens[static_cast<size_t>(i)], i - offsets[s], stream_ + int64_t{i} * width_);
  }
  for (int n = 0; n < static_cast<int>(network_.encoder.size()); ++n) encoder_layer(n, offsets);
  norm(network_.encoder_norm, stream_, total, normed_);  // (total, d)
  show("encoder_norm", -1, "", total, normed_);

  // Keys and values of every cross-attention, once per sentence.
  for (size_t n = 0; n < network_.decoder.size(); ++n) {
    const FloatAttentionWeights& cross = network_.decoder[n].cross_attn;
    const int64_t first = static_cast<int64_t>(n) * capacity_.source_tokens * width_;
    linear(cross.k, normed_, total, Into::kStore, cross_keys_ + first);    // (total, d)
    linear(cross.v, normed_, total, Into::kStore, cross_values_ + first);  // (total, d)
  }
}

// x = x + Attention(LN(x));  x = x + FFN(LN(x))
void FloatTransformer::encoder_layer(int number, std::span<const int32_t> offsets) {
  const FloatEncoderLayerWeights& layer = network_.encoder[static_cast<size_t>(number)];
  const int total = offsets.back();
  norm(layer.self_norm, stream_, total, normed_);  // (total, d)
  show("encoder", number, "self_norm", total, normed_);
  linear(layer.self_attn.q, normed_, total, Into::kStore, q_);  // (total, d)
  linear(layer.self_attn.k, normed_, total, Into::kStore, k_);  // (total, d)
  linear(layer.self_attn.v, normed_, total, Into::kStore, v_);  // (total, d)
  for (size_t s = 0; s + 1 < offsets.size(); ++s) {
    const int64_t start = int64_t{offsets[s]} * width_;
    const KeysValues sentence = {k_ + start, v_ + start, offsets[s + 1] - offsets[s]};
    for (int i = offsets[s]; i < offsets[s + 1]; ++i) {
      attend(layer.self_attn, q_ + int64_t{i} * width_, sentence, attended_ + int64_t{i} * width_, nullptr);
    }
  }
  linear(layer.self_attn.out, attended_, total, Into::kAdd, stream_);  // (total, d)
  show("encoder", number, "self_attn", total, stream_);
  feed_forward(layer.ffn_norm, layer.w1, layer.w2, total, "encoder", number);
}

// x = x + W2·ReLU(W1·LN(x)), a block of rows at a time.
void FloatTransformer::feed_forward(const FloatNorm& ffn_norm, const FloatLinear& w1, const FloatLinear& w2, int rows,
                                    const char* side, int number) {
  for (int first = 0; first < rows; first += kRowBlock) {
    const int count = std::min(kRowBlock, rows - first);
    float* block = stream_ + int64_t{first} * width_;  // (count, d)
    norm(ffn_norm, block, count, normed_);             // (count, d)
    show(side, number, "ffn_norm", count, normed_);
    linear(w1, normed_, count, Into::kRelu, hidden_);  // (count, ffn)
    linear(w2, hidden_, count, Into::kAdd, block);     // (count, d)
  }
  show(side, number, "ffn", rows, stream_);
}

void FloatTransformer::step(std::span<const StepRow> rows) {
  const int count = static_cast<int>(rows.size());
  for (int i = 0; i < count; ++i) {
    const StepRow& row = rows[static_cast<size_t>(i)];
    embed(row.token, row.position, stream_ + int64_t{i} * width_);
  }
  for (int n = 0; n < static_cast<int>(network_.decoder.size()); ++n) decoder_layer(n, rows);
  norm(network_.decoder_norm, stream_, count, normed_);  // (count, d)
  show("decoder_norm", -1, "", count, normed_);
  linear(network_.embedding, normed_, count, Into::kStore, logits_);  // (count, vocabulary)
}

// y = y + SelfAttention(LN(y));  y = y + CrossAttention(LN(y), encoder);  y = y + FFN(LN(y))
void FloatTransformer::decoder_layer(int number, std::span<const StepRow> rows) {
  const FloatDecoderLayerWeights& layer = network_.decoder[static_cast<size_t>(number)];
  const int count = static_cast<int>(rows.size());

  norm(layer.self_norm, stream_, count, normed_);  // (count, d)
  show("decoder", number, "self_norm", count, normed_);
  linear(layer.self_attn.q, normed_, count, Into::kStore, q_);  // (count, d)
  linear(layer.self_attn.k, normed_, count, Into::kStore, k_);  // (count, d)
  linear(layer.self_attn.v, normed_, count, Into::kStore, v_);  // (count, d)
  for (int i = 0; i < count; ++i) {
    const StepRow& row = rows[static_cast<size_t>(i)];
    const int64_t start = (int64_t{number} * capacity_.slots + row.slot) * capacity_.target_length * width_;
    const int64_t here = start + int64_t{row.position} * width_, from = int64_t{i} * width_;
    std::copy_n(k_ + from, width_, self_keys_ + here);
    std::copy_n(v_ + from, width_, self_values_ + here);
    const KeysValues history = {self_keys_ + start, self_values_ + start, row.position + 1};
    attend(layer.self_attn, q_ + from, history, attended_ + from, nullptr);
  }
  linear(layer.self_attn.out, attended_, count, Into::kAdd, stream_);  // (count, d)
  show("decoder", number, "self_attn", count, stream_);

  if (!network_.encoder.empty()) {
    norm(layer.cross_norm, stream_, count, normed_);  // (count, d)
    show("decoder", number, "cross_norm", count, normed_);
    linear(layer.cross_attn.q, normed_, count, Into::kStore, q_);  // (count, d)
    for (int i = 0; i < count; ++i) {
      const size_t sentence = static_cast<size_t>(rows[static_cast<size_t>(i)].sentence);
      const int length = offsets_[sentence + 1] - offsets_[sentence];
      const int64_t start = (int64_t{number} * capacity_.source_tokens + offsets_[sentence]) * width_;
      const int64_t from = int64_t{i} * width_;
      const bool aligns = number == alignment_layer(network_.shape);
      attend(layer.cross_attn, q_ + from, {cross_keys_ + start, cross_values_ + start, length}, attended_ + from,
             aligns ? shares_ : nullptr);
      if (aligns) keep_alignment(i, length);
    }
    linear(layer.cross_attn.out, attended_, count, Into::kAdd, stream_);  // (count, d)
    show("decoder", number, "cross_attn", count, stream_);
  }
  feed_forward(layer.ffn_norm, layer.w1, layer.w2, count, "decoder", number);
}

// out = Σ_j w_j·v_j / Σ_j w_j in each head, with the weights ReLU(q·k_j/√hd + b)ⁿ + |δ| or
// exp(q·k_j/√hd).   q, out: (d)
void FloatTransformer::attend(const FloatAttentionWeights& weights, const float* q, const KeysValues& seen, float* out,
                              float* shares) const {
  const NetworkShape& shape = network_.shape;
  const int heads = static_cast<int>(shape.heads), head_width = width_ / heads;
  const float scale = 1 / std::sqrt(static_cast<float>(head_width));
  if (shares != nullptr) std::fill_n(shares, seen.count, 0.0f);
  for (int h = 0; h < heads; ++h) {
    const int column = h * head_width;
    fp32::scores(q + column, seen.keys + column, width_, seen.count, head_width, weights_);
    const float sum = shape.attention == AttentionKind::kSoftmax
                          ? fp32::softmax(weights_, seen.count, scale)
                          : fp32::polynomial(weights_, seen.count, scale, weights.b[h], weights.delta[h],
                                             static_cast<int>(shape.degree));
    const float inverse = sum > 0 ? 1 / sum : 0;  // a head that sees nothing (δ = 0) says nothing
    fp32::weighted_sum(weights_, seen.values + column, width_, seen.count, head_width, inverse, out + column);
    if (shares != nullptr) fp32::accumulate(weights_, inverse, shares, seen.count);
  }
}

void FloatTransformer::keep_alignment(int row, int length) {
  int32_t* out = alignments_ + int64_t{row} * capacity_.source_tokens;
  const float most = kAlignmentUnit * static_cast<float>(network_.shape.heads);
  for (int j = 0; j < length; ++j) {
    const float share = kAlignmentUnit * shares_[j];
    out[j] = share > 0 ? static_cast<int32_t>(std::min(share, most) + 0.5f) : 0;  // NaN: 0
  }
  alignment_lengths_[row] = length;
}

void FloatTransformer::norm(const FloatNorm& norm, const float* x, int rows, float* y) const {
  const auto one_row = network_.shape.norm == NormKind::kL1 ? fp32::l1_norm : fp32::l2_norm;
  for (int64_t i = 0; i < rows; ++i) one_row(x + i * width_, norm.g, norm.b, y + i * width_, width_);
}

// out = √d·E[token] + position code; the token's row is spread over a panel.   out: (d)
void FloatTransformer::embed(int32_t token, int position, float* out) const {
  const float* row = network_.embedding.panels + int64_t{token / 8} * 8 * width_ + token % 8;
  const float* code = positions_ + int64_t{position} * width_;
  const float scale = std::sqrt(static_cast<float>(width_));
  for (int c = 0; c < width_; ++c) out[c] = row[int64_t{c} * 8] * scale + code[c];
}

void FloatTransformer::show(const char* side, int number, const char* what, int rows, const float* values) const {
  if (!recorder_) return;
  const std::string name = number < 0 ? side : concat({side, ".", std::to_string(number), ".", what});
  recorder_(name, rows, width_, values);
}

// ---------------------------------------------------------------------------- results and memory

std::span<const float> FloatTransformer::logits(int row) const {
  const size_t n = network_.shape.vocabulary;
  return {logits_ + static_cast<size_t>(row) * n, n};
}

int32_t FloatTransformer::best_token(int row) const {
  const std::span<const float> x = logits(row);
  return fp32::arg_max(x.data(), static_cast<int>(x.size()));
}

void FloatTransformer::log_probabilities(int row, float* out) const {
  const std::span<const float> x = logits(row);
  fp32::log_softmax(x.data(), out, static_cast<int>(x.size()));
}

std::span<const int32_t> FloatTransformer::alignment(int row) const {
  if (network_.encoder.empty()) return {};
  return {alignments_ + int64_t{row} * capacity_.source_tokens, static_cast<size_t>(alignment_lengths_[row])};
}

void FloatTransformer::copy_slot(int from, int to, int length) {
  if (from == to) return;
  const int64_t slot = int64_t{capacity_.target_length} * width_;
  for (int64_t n = 0; n < static_cast<int64_t>(network_.decoder.size()); ++n) {
    const int64_t a = (n * capacity_.slots + from) * slot, b = (n * capacity_.slots + to) * slot;
    std::copy_n(self_keys_ + a, int64_t{length} * width_, self_keys_ + b);
    std::copy_n(self_values_ + a, int64_t{length} * width_, self_values_ + b);
  }
}

Status FloatTransformer::reserve(const Capacity& wanted) {
  if (wanted.sentences <= capacity_.sentences && wanted.source_tokens <= capacity_.source_tokens &&
      wanted.slots <= capacity_.slots && wanted.target_length <= capacity_.target_length) {
    return std::nullopt;
  }
  Arena measure;
  lay_out(measure, wanted);
  capacity_ = {};
  if (measure.used() > memory_.size()) {
    memory_ = {};  // give the old block back first
    memory_ = AlignedBytes(measure.used());
    if (memory_.empty()) {
      return problem({"out of memory: ", std::to_string(measure.used() >> 20), " MB are needed for ",
                      std::to_string(wanted.source_tokens), " source tokens; translate fewer sentences at a time"});
    }
  }
  Arena arena(memory_.data());
  lay_out(arena, wanted);
  capacity_ = wanted;
  offsets_.reserve(static_cast<size_t>(wanted.sentences) + 1);
  position_codes(std::max(wanted.source_tokens, wanted.target_length));
  return std::nullopt;
}

// Each position turns the angles of the one before: one sine and cosine per frequency are in the file.
void FloatTransformer::position_codes(int length) {
  const int half = width_ / 2;
  for (int i = 0; i < half; ++i) {
    const double turn_cos = network_.rotation[2 * i], turn_sin = network_.rotation[2 * i + 1];
    double c = 1, s = 0;
    for (int64_t p = 0; p < length; ++p) {
      positions_[p * width_ + i] = static_cast<float>(s);
      positions_[p * width_ + half + i] = static_cast<float>(c);
      const double next = c * turn_cos - s * turn_sin;
      s = s * turn_cos + c * turn_sin;
      c = next;
    }
  }
}

void FloatTransformer::lay_out(Arena& arena, const Capacity& capacity) {
  const NetworkShape& shape = network_.shape;
  const int64_t d = width_, layers = shape.decoder_layers;
  const int64_t rows = std::max(capacity.source_tokens, capacity.slots);
  const int64_t keys = std::max(capacity.source_tokens, capacity.target_length);
  positions_ = arena.take<float>(keys * d);
  stream_ = arena.take<float>(rows * d);
  normed_ = arena.take<float>(rows * d);
  q_ = arena.take<float>(rows * d);
  k_ = arena.take<float>(rows * d);
  v_ = arena.take<float>(rows * d);
  attended_ = arena.take<float>(rows * d);
  hidden_ = arena.take<float>(std::min<int64_t>(rows, kRowBlock) * shape.ffn);
  weights_ = arena.take<float>(keys + 3);  // the kernels work on groups of four
  shares_ = arena.take<float>(capacity.source_tokens);
  self_keys_ = arena.take<float>(layers * capacity.slots * capacity.target_length * d);
  self_values_ = arena.take<float>(layers * capacity.slots * capacity.target_length * d);
  cross_keys_ = arena.take<float>(layers * capacity.source_tokens * d);
  cross_values_ = arena.take<float>(layers * capacity.source_tokens * d);
  logits_ = arena.take<float>(int64_t{capacity.slots} * shape.vocabulary);
  alignments_ = arena.take<int32_t>(int64_t{capacity.slots} * capacity.source_tokens);
  alignment_lengths_ = arena.take<int32_t>(capacity.slots);
}

}  // namespace octavo
