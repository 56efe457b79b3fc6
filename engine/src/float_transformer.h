// The FP32 twin of the Integer Transformer: the same network on floats, as fast as 128-bit SIMD
// makes it. It is the baseline of every claim about speed and quality. With softmax attention and
// L2 norms it is the vanilla Transformer.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "float_network.h"
#include "transformer.h"

namespace octavo {

class Arena;

class FloatTransformer final : public Transformer {
 public:
  // Sees activations (rows, width) as they are computed, e.g. "decoder.2.ffn": the residual stream
  // after that sub-layer, and "decoder.2.ffn_norm": a norm's output. A tensor of many rows may come
  // in several blocks, in order.
  using Recorder = std::function<void(std::string_view name, int rows, int width, const float* values)>;

  static Result<std::unique_ptr<FloatTransformer>> create(std::shared_ptr<const ModelFile> file);

  const NetworkShape& shape() const override { return network_.shape; }
  Status reserve(const Capacity& capacity) override;
  size_t memory_bytes() const override { return memory_.size(); }
  void encode(std::span<const int32_t> tokens, std::span<const int32_t> offsets) override;
  void step(std::span<const StepRow> rows) override;
  int32_t best_token(int row) const override;
  void log_probabilities(int row, float* out) const override;
  std::span<const int32_t> alignment(int row) const override;
  void copy_slot(int from, int to, int length) override;

  std::span<const float> logits(int row) const;
  void record(Recorder recorder) { recorder_ = std::move(recorder); }

 private:
  // Keys and values that one query may attend to: (count, width) each.
  struct KeysValues {
    const float *keys, *values;
    int count;
  };

  FloatTransformer(std::shared_ptr<const ModelFile> file, FloatNetwork network);
  void lay_out(Arena& arena, const Capacity& capacity);
  void embed(int32_t token, int position, float* out) const;
  void norm(const FloatNorm& norm, const float* x, int rows, float* y) const;
  void attend(const FloatAttentionWeights& weights, const float* q, const KeysValues& seen, float* out,
              float* shares) const;
  void encoder_layer(int number, std::span<const int32_t> offsets);
  void decoder_layer(int number, std::span<const StepRow> rows);
  void feed_forward(const FloatNorm& ffn_norm, const FloatLinear& w1, const FloatLinear& w2, int rows, const char* side,
                    int number);
  void keep_alignment(int row, int length);
  void position_codes(int length);
  void show(const char* side, int number, const char* what, int rows, const float* values) const;

  std::shared_ptr<const ModelFile> file_;  // the network's views point into it
  FloatNetwork network_;
  int width_;
  Recorder recorder_;
  Capacity capacity_{};
  AlignedBytes memory_;
  std::vector<int32_t> offsets_;  // of the encoded sentences

  // Views into memory_; T = rows of the larger of encoder batch and step batch, d = width.
  float* positions_ = nullptr;                        // (longest sentence, d): sines, then cosines
  float* stream_ = nullptr;                           // (T, d) the residual stream
  float* normed_ = nullptr;                           // (T, d)
  float *q_ = nullptr, *k_ = nullptr, *v_ = nullptr;  // (T, d)
  float* attended_ = nullptr;                         // (T, d)
  float* hidden_ = nullptr;                           // (kRowBlock, ffn)
  float* weights_ = nullptr;                          // (keys) of one query and head
  float* shares_ = nullptr;                           // (source_tokens): attention of one query, summed over the heads
  float *self_keys_ = nullptr, *self_values_ = nullptr;    // (decoder layers, slots, target_length, d)
  float *cross_keys_ = nullptr, *cross_values_ = nullptr;  // (decoder layers, source_tokens, d)
  float* logits_ = nullptr;                                // (slots, vocabulary)
  int32_t* alignments_ = nullptr;                          // (slots, source_tokens)
  int32_t* alignment_lengths_ = nullptr;                   // (slots)
};

}  // namespace octavo
