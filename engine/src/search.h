// Finds the tokens of a translation: greedy or beam search over what a Transformer predicts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "octavo/options.h"
#include "octavo/status.h"
#include "transformer.h"

namespace octavo {

struct Hypothesis {
  std::vector<int32_t> tokens;                  // without the end mark
  float score = 0;                              // log P / length^a, end mark included; 0 for greedy search without `scores`
  std::vector<float> token_scores;              // (tokens) log-probabilities, if `scores` were asked for
  std::vector<std::vector<int32_t>> alignment;  // (tokens, source + end mark) attention, if `alignment` was asked for
  bool loop_stopped = false;                    // the loop guard kept it from repeating itself
  bool length_limited = false;                  // it was cut off at the length limit
};

struct Translation {
  std::vector<Hypothesis> alternatives;  // best first, never empty
};

class Search {
 public:
  explicit Search(Transformer& network) : network_(network) {}

  // Translates sentences (tokens without end marks) in one batch. The result of each is the same as if it were alone.
  Result<std::vector<Translation>> translate(std::span<const std::vector<int32_t>> sentences, const Options& options);

 private:
  Transformer& network_;
};

}  // namespace octavo
