// How a translation is searched for. The defaults are what most callers want.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "octavo/status.h"

namespace octavo {

inline constexpr int kMaxBeam = 64;
inline constexpr int kMaxLoopPhrase = 16;
inline constexpr int kMaxTargetLength = 8192;

// The error of a translation that was stopped by `Options::cancelled`.
inline constexpr std::string_view kCancelled = "The translation was cancelled.";

struct Options {
  int beam = 1;                 // hypotheses kept per sentence, 1..kMaxBeam; 1 is greedy search
  int alternatives = 1;         // translations returned per sentence, best first, 1..beam
  float length_penalty = 1.0f;  // a: hypotheses are ranked by log P / length^a; 0 favours short ones, 1 compares means
  float max_length_factor = 2.0f;  // a translation has at most factor · source + extra tokens ...
  int max_length_extra = 16;       // ... counted with its end mark
  int max_length = 1024;           // and never more than this, whatever its source
  int loop_phrase = 16;        // loop guard: watches phrases of up to so many tokens, 0..kMaxLoopPhrase; 0 turns it off
  int loop_token_repeats = 4;  // loop guard: how often in a row a single token may stand
  int loop_phrase_repeats = 3;  // loop guard: the same for longer phrases; a source that repeats more may be followed
  bool scores = false;     // also return the log-probability of every token (greedy search computes none otherwise)
  bool alignment = false;  // also return which source tokens each target token attended to
  std::span<const int32_t> forbidden = {};  // tokens never produced, beside those without text; the end mark may come
  bool (*cancelled)(void* context) = nullptr;  // asked before every step; true ends the translation with kCancelled
  void* cancel_context = nullptr;              // handed to `cancelled`
};

// Whether the options make sense together. The error names the field and what it may be.
Status check_options(const Options& options);

}  // namespace octavo
