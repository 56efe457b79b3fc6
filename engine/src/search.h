// Finds the tokens of a translation: greedy or beam search over what a Transformer predicts.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "octavo/options.h"
#include "octavo/status.h"
#include "transformer.h"

namespace octavo {

struct Hypothesis {
  std::vector<int32_t> tokens;      // without the end mark
  float score = 0;                  // log P / length^a, end mark included; 0 for greedy search without `scores`
  std::vector<float> token_scores;  // (tokens) log-probabilities, if `scores` were asked for
  std::vector<std::vector<int32_t>> alignment;  // (tokens, source + end mark) attention, if `alignment` was asked for
  bool loop_stopped = false;                    // the loop guard kept it from repeating itself
  bool length_limited = false;                  // it was cut off at the length limit
};

struct Translation {
  std::vector<Hypothesis> alternatives;  // best first, never empty
};

// One batch at a time, in steps, so that the caller decides how long to work before it looks at something else.
class Search {
 public:
  explicit Search(Transformer& network);
  ~Search();

  // Takes sentences (tokens without end marks). The result of each is the same as if it were alone in the batch.
  Status start(std::span<const std::vector<int32_t>> sentences, const Options& options);
  // Runs the encoder (first call) or one decoder step. Returns whether there is more to do.
  bool step();
  // After the last step: one translation per sentence, in order.
  std::vector<Translation> finish();

  // All of it at once, asking options.cancelled before every step.
  Result<std::vector<Translation>> translate(std::span<const std::vector<int32_t>> sentences, const Options& options);

 private:
  class Batch;
  Transformer& network_;
  std::unique_ptr<Batch> batch_;
};

}  // namespace octavo
