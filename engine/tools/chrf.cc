#include "chrf.h"

#include <string>

#include "ngrams.h"

namespace octavo {

void Chrf::add(std::string_view hypothesis, std::string_view reference) {
  std::u32string ours = decode_utf8(hypothesis), theirs = decode_utf8(reference);
  std::erase_if(ours, is_space);
  std::erase_if(theirs, is_space);
  for (size_t i = 0; i < kChrfOrder; ++i) {
    const int64_t in_reference = ngram_count(theirs.size(), i + 1);
    // A sentence whose reference is too short for this order says
    // nothing about it, so its own n-grams do not count either.
    if (in_reference == 0) continue;
    counts_[i].hypothesis += ngram_count(ours.size(), i + 1);
    counts_[i].reference += in_reference;
    counts_[i].matches += matching_ngrams(ours, theirs, i + 1);
  }
}

double Chrf::score() const {
  double precision = 0, recall = 0;
  int orders = 0;
  for (const Counts& counts : counts_) {
    if (counts.hypothesis == 0 || counts.reference == 0) continue;
    precision += static_cast<double>(counts.matches) / static_cast<double>(counts.hypothesis);
    recall += static_cast<double>(counts.matches) / static_cast<double>(counts.reference);
    ++orders;
  }
  if (precision + recall == 0) return 0;
  precision /= orders;
  recall /= orders;
  constexpr double kFactor = kChrfBeta * kChrfBeta;
  return 100 * (1 + kFactor) * precision * recall / (kFactor * precision + recall);
}

}  // namespace octavo
