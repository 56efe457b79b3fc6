// The state of search: what is known of each sentence between two steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "loop_guard.h"
#include "search.h"

namespace octavo::decoding {

// Hypotheses share their beginnings, so a sentence keeps one tree: each token points to the one before it.
struct Node {
  int32_t parent;  // -1 for the first token
  int32_t token;
  float score;        // log-probability
  int32_t attention;  // where its alignment begins in Sentence::attention
};

struct Live {
  int slot;      // of the network's cache
  int32_t node;  // its last token, -1 before the first
  float log_probability;
  bool loop_stopped;
  LoopGuard guard;
};

struct Finished {
  int32_t node;
  float score;
  bool loop_stopped;
  bool length_limited;
};

struct Sentence {
  size_t index;  // in the caller's batch
  int number;    // in the encoder's batch
  int source_length;
  int limit;  // steps
  LoopGuard::Limits loops;
  std::vector<Node> nodes;
  std::vector<int32_t> attention;
  std::vector<Live> live, next;
  std::vector<Finished> finished;  // best first, at most `beam`

  void reserve(const Options& options);

  void extend(Live& hypothesis, int32_t token, float score, int32_t attention_begin);
  // Stores the attention of one step; returns where it begins.
  int32_t keep_attention(std::span<const int32_t> weights);
  void finish(const Finished& entry, size_t beam);
  // The finished hypotheses, spelled out.
  Translation translation(const Options& options) const;
};

}  // namespace octavo::decoding
