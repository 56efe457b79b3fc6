// Corpus chrF2 as sacrebleu computes it: character 1- to 6-grams without white space, recall twice as important as
// precision, orders that either side lacks left out ("effective order"), one reference.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace octavo {

inline constexpr int kChrfOrder = 6;
inline constexpr int kChrfBeta = 2;
inline constexpr std::string_view kChrfSignature = "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no";

// Add the sentences of a corpus, then ask for the score, 0..100.
class Chrf {
 public:
  void add(std::string_view hypothesis, std::string_view reference);
  double score() const;

 private:
  struct Counts {
    int64_t hypothesis = 0, reference = 0, matches = 0;
  };
  std::array<Counts, kChrfOrder> counts_ = {};
};

}  // namespace octavo
