// Notices when a sequence of tokens goes round in circles: the same phrase again and again, at its end.
//
// A phrase of p tokens is being repeated while each token equals the one p before it. So one counter per p is all there
// is to keep, and only a token that stood at most kMaxLoopPhrase places before can prolong a loop.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "octavo/options.h"

namespace octavo {

class LoopGuard {
 public:
  // What is allowed, for a source of these tokens.
  struct Limits {
    int longest = 0;  // phrase watched, in tokens
    int token_repeats = 0;
    int phrase_repeats = 0;
  };

  static Limits limits(const Options& options, std::span<const int32_t> source) {
    if (options.loop_phrase == 0) return {};
    LoopGuard guard;
    int repeats = 1;
    for (const int32_t token : source) {
      guard.push(token);
      for (int p = 1; p <= kMaxLoopPhrase; ++p) repeats = std::max(repeats, guard.run_[index(p)] / p + 1);
    }
    // One more than the source: its first or last repetition often looks different ("Ha ha ha!"). A token there may be
    // a phrase here, hence the same number for both.
    const int follow = repeats > 1 ? repeats + 1 : 1;
    return {options.loop_phrase, std::max(options.loop_token_repeats, follow),
            std::max(options.loop_phrase_repeats, follow)};
  }

  void push(int32_t token) {
    for (int p = 1; p <= std::min(length_, kMaxLoopPhrase); ++p)
      run_[index(p)] = token == back(p) ? run_[index(p)] + 1 : 0;
    recent_[static_cast<size_t>(length_ % kMaxLoopPhrase)] = token;
    ++length_;
  }

  // The tokens that would make a loop if they came next; returns how many.
  int looping(const Limits& limits, std::array<int32_t, kMaxLoopPhrase>& tokens) const {
    int count = 0;
    for (int p = 1; p <= std::min(length_, limits.longest); ++p) {
      // With run_ matches the phrase covers p + run_ tokens. Stopping at the first token beyond the allowed repeats,
      // not at the end of one more, leaves whole phrases behind.
      const int repeats = p == 1 ? limits.token_repeats : limits.phrase_repeats;
      if (p + run_[index(p)] + 1 > repeats * p) tokens[static_cast<size_t>(count++)] = back(p);
    }
    return count;
  }

 private:
  static constexpr size_t index(int p) { return static_cast<size_t>(p - 1); }
  int32_t back(int p) const { return recent_[static_cast<size_t>((length_ - p) % kMaxLoopPhrase)]; }

  int length_ = 0;
  std::array<int32_t, kMaxLoopPhrase> recent_ = {};  // a ring
  std::array<int32_t, kMaxLoopPhrase> run_ = {};     // [p - 1]: of the last tokens, how many equal the one p before
};

}  // namespace octavo
