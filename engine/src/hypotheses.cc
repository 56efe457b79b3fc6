#include "hypotheses.h"

#include <algorithm>

namespace octavo::decoding {

void Sentence::reserve(const Options& options) {
  const auto beam = static_cast<size_t>(options.beam);
  const auto length = static_cast<size_t>(source_length);
  nodes.reserve(beam * static_cast<size_t>(limit));
  live.reserve(beam);
  next.reserve(beam);
  finished.reserve(beam + 1);
  // Most translations are about as long as their source; the rare longer one makes this grow.
  if (options.alignment) attention.reserve(beam * length * (length + 8));
}

void Sentence::extend(Live& hypothesis, int32_t token, float score, int32_t attention_begin) {
  nodes.push_back({hypothesis.node, token, score, attention_begin});
  hypothesis.node = static_cast<int32_t>(nodes.size()) - 1;
  hypothesis.guard.push(token);
}

int32_t Sentence::keep_attention(std::span<const int32_t> weights) {
  const auto begin = static_cast<int32_t>(attention.size());
  attention.insert(attention.end(), weights.begin(), weights.end());
  return begin;
}

// Complete hypotheses come before ones that were cut off, then by score; among equals the one that was there first.
void Sentence::finish(const Finished& entry, size_t beam) {
  const auto place =
      std::upper_bound(finished.begin(), finished.end(), entry, [](const Finished& a, const Finished& b) {
        return a.length_limited != b.length_limited ? b.length_limited : a.score > b.score;
      });
  finished.insert(place, entry);
  if (finished.size() > beam) finished.pop_back();
}

Translation Sentence::translation(const Options& options) const {
  Translation result;
  for (const Finished& entry : finished) {
    if (result.alternatives.size() == static_cast<size_t>(options.alternatives)) break;
    Hypothesis& hypothesis = result.alternatives.emplace_back();
    hypothesis.score = entry.score;
    hypothesis.loop_stopped = entry.loop_stopped;
    hypothesis.length_limited = entry.length_limited;
    for (int32_t at = entry.node; at >= 0;) {
      const Node& node = nodes[static_cast<size_t>(at)];
      hypothesis.tokens.push_back(node.token);
      if (options.scores) hypothesis.token_scores.push_back(node.score);
      if (options.alignment) {
        const auto begin = attention.begin() + node.attention;
        hypothesis.alignment.emplace_back(begin, begin + source_length);
      }
      at = node.parent;
    }
    std::reverse(hypothesis.tokens.begin(), hypothesis.tokens.end());
    std::reverse(hypothesis.token_scores.begin(), hypothesis.token_scores.end());
    std::reverse(hypothesis.alignment.begin(), hypothesis.alignment.end());
  }
  return result;
}

}  // namespace octavo::decoding
