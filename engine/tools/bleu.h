// Corpus BLEU as sacrebleu computes it: mixed case, 13a tokens,
// exponential smoothing, no effective order, one reference.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace octavo {

inline constexpr int kBleuOrder = 4;
inline constexpr std::string_view kBleuSignature = "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp";

struct BleuScore {
  double bleu = 0;                                 // 0..100
  std::array<double, kBleuOrder> precisions = {};  // 0..100, smoothed
  double brevity_penalty = 0;                      // 0..1
  int64_t hypothesis_length = 0;                   // in 13a tokens
  int64_t reference_length = 0;
};

// Add the sentences of a corpus, then ask for the score.
class Bleu {
 public:
  void add(std::string_view hypothesis, std::string_view reference);
  BleuScore score() const;

 private:
  std::array<int64_t, kBleuOrder> matches_ = {};
  std::array<int64_t, kBleuOrder> totals_ = {};
  int64_t hypothesis_length_ = 0;
  int64_t reference_length_ = 0;
};

// The tokens that mteval-v13a.pl, and with it WMT, counts in a sentence.
std::vector<std::u32string> tokenize_13a(std::string_view sentence);

}  // namespace octavo
