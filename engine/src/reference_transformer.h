// The whole network on the operations of scale_propagation.h: slow and general. It is the
// specification of IntegerTransformer, whose logits it equals to the bit (8 bits, fixed-point, a
// scale per token), and it runs the paper's ablations: other precisions, the paper's own formulas, a
// scale per sentence, integers in some modules only. Tools and tests use it; the product does not.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "reference_layers.h"
#include "reference_network.h"
#include "transformer.h"

namespace octavo {

class ReferenceTransformer final : public Transformer {
 public:
  // Sees de-quantised activations under the names that FloatTransformer gives them, for each name
  // in the same order of rows.
  using Recorder = std::function<void(std::string_view name, int rows, int width, const float* values)>;

  // From an FP32 file, quantised on the fly, or from the integers of an INT8 file.
  static Result<std::unique_ptr<ReferenceTransformer>> create(std::shared_ptr<const ModelFile> file,
                                                              const ReferenceOptions& options);

  const NetworkShape& shape() const override { return network_.shape; }
  Status reserve(const Capacity& capacity) override;
  size_t memory_bytes() const override;  // of the key/value caches
  void encode(std::span<const int32_t> tokens, std::span<const int32_t> offsets) override;
  void step(std::span<const StepRow> rows) override;
  int32_t best_token(int row) const override;
  void log_probabilities(int row, float* out) const override;
  std::span<const int32_t> alignment(int row) const override;
  void copy_slot(int from, int to, int length) override;

  // The logits of a row as comparable integers, and their unit: logit = x / unit. Empty where they
  // are computed as floats: in paper arithmetic, or without kProjection among the modules.
  std::span<const int32_t> logits(int row) const;
  float logit_unit(int row) const { return logits_.units[static_cast<size_t>(row)]; }
  void record(Recorder recorder) { recorder_ = std::move(recorder); }

 private:
  struct KeysValues {
    Activation keys, values;  // (tokens, d)
  };

  ReferenceTransformer(std::shared_ptr<const ModelFile> file, ReferenceNetwork network,
                       const ReferenceOptions& options);
  Activation encoder_layer(int number, Activation x) const;
  Activation decoder_layer(int number, std::span<const StepRow> rows, Activation y);
  Activation feed_forward(const ReferenceLayers& on, const ReferenceLayer& layer, const char* side, int number,
                          Activation x) const;
  Activation self_attention(int number, std::span<const StepRow> rows, const Activation& x);
  Activation cross_attention(int number, std::span<const StepRow> rows, const Activation& x);
  const double* code(int position) const { return &codes_[size_t(position) * shape().width]; }
  void show(const char* side, int number, const char* what, const Activation& values) const;

  std::shared_ptr<const ModelFile> file_;  // the FP32 weights point into it
  ReferenceNetwork network_;
  ReferenceLayers encoder_, decoder_;
  Recorder recorder_;
  std::vector<double> codes_;                     // (positions, d): sines, then cosines
  std::vector<std::vector<KeysValues>> cross_;    // (sentences, decoder layers)
  std::vector<std::vector<KeysValues>> self_;     // (slots, decoder layers)
  std::vector<std::vector<int32_t>> alignments_;  // (rows of the last step)
  Logits logits_;                                 // of the last step
};

}  // namespace octavo
