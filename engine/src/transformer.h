// What search needs of a network. Two implement it: IntegerTransformer
// (the product) and FloatTransformer (its FP32 twin).
//
// Sentences are encoded together, ragged: token rows of all sentences one after another, nothing padded. Decoding
// advances any set of hypotheses by one token; each owns a *slot* of the key/value cache. A row's result depends on its
// own sentence and history only, never on the other rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "model_file.h"
#include "observer.h"
#include "octavo/status.h"

namespace octavo {

// What one call may hold at most; all memory is allocated for it at once, none during encode() and step().
struct Capacity {
  int sentences;      // encoded together
  int source_tokens;  // over all sentences, end marks included
  int slots;          // hypotheses alive at the same time
  int target_length;  // tokens of one hypothesis
  friend bool operator==(const Capacity&, const Capacity&) = default;
};

struct StepRow {
  int sentence;  // whose encoder states it attends to; ignored by a language model
  int slot;
  int position;   // 0 for the first token; equals the number of tokens already in the slot
  int32_t token;  // the previous target token (eos at position 0)
};

// The decoder layer whose cross-attention is reported as alignment.
inline int alignment_layer(const NetworkShape& shape) { return static_cast<int>(shape.decoder_layers) - 1; }

class Transformer {
 public:
  virtual ~Transformer() = default;
  virtual const NetworkShape& shape() const = 0;

  // Allocates for this capacity (a no-op if it already fits). The error says how much memory was asked for.
  virtual Status reserve(const Capacity& capacity) = 0;
  virtual size_t memory_bytes() const = 0;

  // Runs the encoder and keeps the keys and values that the decoder's cross-attention will need.
  // offsets has one more entry than there are sentences: sentence i is tokens[offsets[i] .. offsets[i + 1]).
  virtual void encode(std::span<const int32_t> tokens, std::span<const int32_t> offsets) = 0;

  // One decoder step for each row; results are then read by row number until the next step.
  virtual void step(std::span<const StepRow> rows) = 0;
  virtual int32_t best_token(int row) const = 0;
  // Natural logarithms of the probabilities of all tokens:
  // (vocabulary) floats. The one place where logits are de-quantised.
  virtual void log_probabilities(int row, float* out) const = 0;
  // Attention of this row to each source token of its sentence,
  // summed over the heads of the decoder layer that aligns best.
  virtual std::span<const int32_t> alignment(int row) const = 0;

  // Copies the first `length` cached tokens of a slot, for beams that share a history.
  virtual void copy_slot(int from, int to, int length) = 0;

  // From now on the observer is told what happens, until another
  // one or none (nullptr) is. False: this network tells nobody.
  virtual bool observe(Observer*) { return false; }
};

}  // namespace octavo
