// Text in, text out: the engine's public face. Nothing below this
// header knows about JavaScript, nothing above it about tensors.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "octavo/inspection.h"
#include "octavo/options.h"
#include "octavo/status.h"

namespace octavo {

class AlignedBytes;

// One translation of a segment.
struct TranslatedText {
  std::string text;
  float score = 0;                  // mean log-probability per token (0 unless scores or a beam were asked for)
  std::vector<float> token_scores;  // log-probability of each target piece, if `scores`
  std::vector<uint32_t> offsets;    // byte offset of each target piece in `text`, and its end, if scores or alignment
  // (target pieces, source pieces) attention, if `alignment`; each row sums to about 255·heads.
  std::vector<std::vector<int32_t>> alignment;
  bool loop_stopped = false;    // the loop guard cut a repetition
  bool length_limited = false;  // the translation hit its length limit
};

struct TranslatedSegment {
  std::vector<uint32_t> source_offsets;      // byte offset of each source piece, and the end, if scores or alignment
  std::vector<TranslatedText> alternatives;  // best first, never empty
  uint32_t source_tokens = 0;
};

struct EngineInfo {
  std::string kernel;       // "reference", "simd128", "relaxed", "fused"; "float" for an FP32 model
  std::string description;  // the model's JSON description
  uint64_t model_bytes = 0;
  uint64_t memory_bytes = 0;  // activations and caches
};

class Translator;

// A translation in progress, advanced in small steps by a caller that must stay responsive. To cancel it, drop it.
// The translator must outlive it and works on one job at a time: another one that advances meanwhile gets an error.
class TranslationJob {
 public:
  ~TranslationJob();
  // One step of a few milliseconds. Returns whether there is more to do.
  Result<bool> advance();
  // After the last step: one result per segment.
  std::vector<TranslatedSegment> finish();

 private:
  friend class Translator;
  struct State;
  explicit TranslationJob(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

class Translator {
 public:
  // Takes a whole model file. `kernel` is a name or empty for the best one of this build.
  static Result<std::unique_ptr<Translator>> load(AlignedBytes file, std::string_view kernel = {});
  ~Translator();

  // Translates segments (sentences, usually). Each result is the same whatever else
  // is in the list. Blank segments come back as they are; white space around a
  // segment is kept; a segment longer than the model's limit is split, never cut off.
  Result<std::vector<TranslatedSegment>> translate(std::vector<std::string> segments, const Options& options);
  // The same, step by step.
  Result<std::unique_ptr<TranslationJob>> start(std::vector<std::string> segments, const Options& options);

  // Translates one sentence greedily, or reads the translation that is given, and tells what went on inside. Both must
  // fit the model's limit.
  Result<Inspection> inspect(std::string_view sentence, std::string_view translation = {});

  // Pieces that a text takes: what the model's limit counts.
  size_t count_tokens(std::string_view text) const;
  size_t max_tokens() const;
  EngineInfo info() const;

 private:
  friend class TranslationJob;
  struct Parts;
  explicit Translator(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace octavo
