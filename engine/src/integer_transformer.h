// The Integer Transformer with scale propagation: INT8 tensors
// that carry their scales from the embedding to the logits.
#pragma once

#include <memory>
#include <vector>

#include "integer_network.h"
#include "kernels/kernel.h"
#include "layers/polynomial_attention.h"
#include "layers/workspace.h"
#include "scaled_tensor.h"
#include "transformer.h"

namespace octavo {

class Arena;

class IntegerTransformer final : public Transformer {
 public:
  static Result<std::unique_ptr<IntegerTransformer>> create(std::shared_ptr<const ModelFile> file,
                                                            const Kernel& kernel);

  const NetworkShape& shape() const override { return network_.shape; }
  Status reserve(const Capacity& capacity) override;
  size_t memory_bytes() const override { return memory_.size(); }
  void encode(std::span<const int32_t> tokens, std::span<const int32_t> offsets) override;
  void step(std::span<const StepRow> rows) override;
  int32_t best_token(int row) const override { return best_[row]; }
  void log_probabilities(int row, float* out) const override;
  std::span<const int32_t> alignment(int row) const override;
  void copy_slot(int from, int to, int length) override;
  bool observe(Observer* observer) override;

  const Kernel& kernel() const { return *work_.kernel; }
  // The logits of a row as comparable integers and their unit: logit = x / unit.
  std::span<const int32_t> logits(int row) const;
  float logit_unit(int row) const { return units_[row]; }

 private:
  // Keys and values, INT8 with a scale per token: (layers, tokens, width) each.
  struct Cache {
    int8_t *keys, *values;
    float *key_scales, *value_scales;
  };

  IntegerTransformer(std::shared_ptr<const ModelFile> file, IntegerNetwork network, const Kernel& kernel);
  void lay_out(Arena& arena, const Capacity& capacity);
  void encoder_layer(int number, std::span<const int32_t> offsets);
  void decoder_layer(int number, std::span<const StepRow> rows);
  void feed_forward(const Norm& norm, const Linear& w1, const Linear& w2, int rows);
  void project(int rows);
  void passed(bool decoder, int layer, const char* station, const ScaledRows& rows, int count) const {
    if (observer_ != nullptr) observer_->passed(decoder, layer, station, rows.s, count);
  }

  std::shared_ptr<const ModelFile> file_;  // the network's views point into it
  IntegerNetwork network_;
  Capacity capacity_{};
  AlignedBytes memory_;
  Workspace work_{};
  Observer* observer_ = nullptr;
  std::vector<int8_t> observed_weights_;  // (heads, source) of one token; empty unless observed
  std::vector<int8_t> codes_;             // (positions_, width)
  int positions_ = 0;
  std::vector<int32_t> offsets_;  // of the encoded sentences

  // Views into memory_, T = rows of the larger of encoder batch and step batch, d = width:
  ScaledRows stream_{};                                     // (T, d) the residual stream
  ScaledRows normed_{};                                     // (T, d)
  ScaledRows q_{}, k_{}, v_{};                              // (T, d)
  ScaledRows attended_{};                                   // (T, d)
  ScaledRows hidden_{};                                     // (kRowBlock, ffn)
  Cache self_{};                                            // (decoder layers, slots·target_length, d)
  Cache cross_{};                                           // (decoder layers, source_tokens, d)
  uint16_t *key_match_ = nullptr, *value_match_ = nullptr;  // (keys): matching along the keys of one sentence
  uint16_t *cross_key_match_ = nullptr, *cross_value_match_ = nullptr;  // (decoder layers, source_tokens)
  float *cross_key_scale_ = nullptr, *cross_value_scale_ = nullptr;  // (decoder layers, sentences): the matched scales
  int32_t* logits_ = nullptr;                                        // (slots, vocabulary)
  float* units_ = nullptr;                                           // (slots)
  int32_t* best_ = nullptr;                                          // (slots)
  int32_t* alignments_ = nullptr;                                    // (slots, source_tokens of the longest sentence)
  int32_t* alignment_lengths_ = nullptr;                             // (slots)
};

}  // namespace octavo
