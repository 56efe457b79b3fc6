#include "search.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <string>
#include <utility>

#include "hypotheses.h"
#include "log_softmax.h"
#include "loop_guard.h"

namespace octavo {
namespace {

using decoding::Live;
using decoding::Sentence;

constexpr float kImpossible = -std::numeric_limits<float>::infinity();

struct Candidate {
  float log_probability;
  float score;  // of the token alone
  int32_t token;
  int32_t parent;  // index in Sentence::live
};

}  // namespace

// The sentences being searched; vectors are reserved when a sentence is added, so that steps do not allocate.
class Search::Batch {
 public:
  Batch(Transformer& network, const Options& options, size_t size)
      : network_(network),
        options_(options),
        eos_(static_cast<int32_t>(network.shape().eos)),
        size_(size),
        log_probabilities_(network.shape().vocabulary) {
    candidates_.reserve(2 * static_cast<size_t>(options.beam) + 1);
  }

  void add(size_t index, std::span<const int32_t> source);
  Status reserve();
  bool step();
  std::vector<Translation> translations() const;

 private:
  void advance_greedily(Sentence& sentence, int row);
  void advance_beam(Sentence& sentence, int first_row);
  bool mask_loops(const Live& live, const LoopGuard::Limits& limits);
  void mask_forbidden();
  void offer(const Candidate& candidate, size_t capacity);
  void assign_slots(Sentence& sentence);
  int32_t keep_attention(Sentence& sentence, int row) const;
  void finish(Sentence& sentence, const Live& live, float log_probability, bool limited) const;
  float normalised(float log_probability, int length) const;
  bool is_forbidden(int32_t token) const {
    return token != eos_ &&
           std::find(options_.forbidden.begin(), options_.forbidden.end(), token) != options_.forbidden.end();
  }

  Transformer& network_;
  const Options options_;
  const int32_t eos_;
  const size_t size_;  // sentences of the caller, empty ones included
  int step_ = -1;      // of the decoder; -1 before the encoder ran
  std::vector<Sentence> sentences_;
  std::vector<int32_t> tokens_, offsets_ = {0};
  std::vector<float> log_probabilities_;  // (vocabulary) of the row at hand
  std::vector<Candidate> candidates_;     // of the sentence at hand, best first
  std::vector<StepRow> rows_;
};

void Search::Batch::add(size_t index, std::span<const int32_t> source) {
  const auto length = static_cast<float>(source.size());
  const float wanted = options_.max_length_factor * length + static_cast<float>(options_.max_length_extra);
  const auto number = static_cast<int>(sentences_.size());
  Sentence& sentence = sentences_.emplace_back();
  sentence.index = index;
  sentence.number = number;
  sentence.source_length = static_cast<int>(source.size()) + 1;
  sentence.limit = static_cast<int>(std::clamp(wanted, 1.0f, static_cast<float>(options_.max_length)));
  sentence.loops = LoopGuard::limits(options_, source);
  sentence.reserve(options_);
  sentence.live.push_back(
      {.slot = number * options_.beam, .node = -1, .log_probability = 0, .loop_stopped = false, .guard = {}});

  tokens_.insert(tokens_.end(), source.begin(), source.end());
  tokens_.push_back(eos_);
  offsets_.push_back(static_cast<int32_t>(tokens_.size()));
}

// All memory for the search, at once.
Status Search::Batch::reserve() {
  const int count = static_cast<int>(sentences_.size());
  int longest = 0;
  for (const Sentence& sentence : sentences_) longest = std::max(longest, sentence.limit);
  const Capacity capacity = {.sentences = count,
                             .source_tokens = static_cast<int>(tokens_.size()),
                             .slots = count * options_.beam,
                             .target_length = longest};
  rows_.reserve(static_cast<size_t>(capacity.slots));
  return count == 0 ? std::nullopt : network_.reserve(capacity);
}

bool Search::Batch::step() {
  if (step_ < 0) {
    if (!sentences_.empty()) network_.encode(tokens_, offsets_);
    step_ = 0;
    return !sentences_.empty();
  }
  rows_.clear();
  for (const Sentence& sentence : sentences_) {
    for (const Live& live : sentence.live) {
      const int32_t previous = live.node < 0 ? eos_ : sentence.nodes[static_cast<size_t>(live.node)].token;
      rows_.push_back({.sentence = sentence.number, .slot = live.slot, .position = step_, .token = previous});
    }
  }
  if (rows_.empty()) return false;
  network_.step(rows_);

  int row = 0;
  bool more = false;
  for (Sentence& sentence : sentences_) {
    const int alive = static_cast<int>(sentence.live.size());
    if (alive == 0) continue;
    options_.beam == 1 ? advance_greedily(sentence, row) : advance_beam(sentence, row);
    row += alive;
    if (step_ + 1 >= sentence.limit) {
      for (const Live& live : sentence.live) finish(sentence, live, live.log_probability, true);
      sentence.live.clear();
    }
    more |= !sentence.live.empty();
  }
  ++step_;
  return more;
}

std::vector<Translation> Search::Batch::translations() const {
  std::vector<Translation> translations(size_);
  for (const Sentence& sentence : sentences_) translations[sentence.index] = sentence.translation(options_);
  for (Translation& translation : translations) {
    if (translation.alternatives.empty()) translation.alternatives.emplace_back();  // nothing to translate
  }
  return translations;
}

// The best allowed token, without computing probabilities as long as that is the best token of all.
void Search::Batch::advance_greedily(Sentence& sentence, int row) {
  Live& live = sentence.live.front();
  std::array<int32_t, kMaxLoopPhrase> looping;
  const int loops = live.guard.looping(sentence.loops, looping);
  const auto is_looping = [&](int32_t t) {
    return std::find(looping.begin(), looping.begin() + loops, t) != looping.begin() + loops;
  };

  int32_t token = network_.best_token(row);
  const bool looped = is_looping(token);
  const bool unwanted = looped || is_forbidden(token);
  if (unwanted || options_.scores) network_.log_probabilities(row, log_probabilities_.data());
  if (unwanted) {
    mask_forbidden();
    live.loop_stopped |= mask_loops(live, sentence.loops) || looped;
    token = eos_;  // unless something is more probable
    for (size_t t = 0; t < log_probabilities_.size(); ++t) {
      if (log_probabilities_[t] > log_probabilities_[static_cast<size_t>(token)]) token = static_cast<int32_t>(t);
    }
  }
  const float score = options_.scores ? log_probabilities_[static_cast<size_t>(token)] : 0;
  live.log_probability += score;
  if (token == eos_) {
    finish(sentence, live, live.log_probability, false);
    sentence.live.clear();
  } else {
    sentence.extend(live, token, score, keep_attention(sentence, row));
  }
}

// One step of all hypotheses of a sentence: of all their continuations the most probable ones live on.
void Search::Batch::advance_beam(Sentence& sentence, int first_row) {
  const auto beam = static_cast<size_t>(options_.beam);
  // Every hypothesis may end, so this many candidates are sure to contain `beam` that do not.
  const size_t capacity = beam + sentence.live.size();
  candidates_.clear();
  for (size_t i = 0; i < sentence.live.size(); ++i) {
    Live& live = sentence.live[i];
    network_.log_probabilities(first_row + static_cast<int>(i), log_probabilities_.data());
    mask_forbidden();
    live.loop_stopped |= mask_loops(live, sentence.loops);
    // Rows and tokens come in ascending order and only something
    // better displaces a candidate: ties go to the lower number.
    for (size_t t = 0; t < log_probabilities_.size(); ++t) {
      const float sum = live.log_probability + log_probabilities_[t];
      if (sum > (candidates_.size() < capacity ? kImpossible : candidates_.back().log_probability)) {
        offer({sum, log_probabilities_[t], static_cast<int32_t>(t), static_cast<int32_t>(i)}, capacity);
      }
    }
  }

  sentence.next.clear();
  std::array<int32_t, kMaxBeam> attention;
  attention.fill(-1);
  for (size_t rank = 0; rank < candidates_.size() && sentence.next.size() < beam; ++rank) {
    const Candidate& candidate = candidates_[rank];
    const auto parent = static_cast<size_t>(candidate.parent);
    if (candidate.token == eos_) {
      // An end that would not have been among the continuations kept is no end worth keeping.
      if (rank < beam) finish(sentence, sentence.live[parent], candidate.log_probability, false);
      continue;
    }
    if (attention[parent] < 0) attention[parent] = keep_attention(sentence, first_row + candidate.parent);
    Live& child = sentence.next.emplace_back(sentence.live[parent]);
    child.log_probability = candidate.log_probability;
    sentence.extend(child, candidate.token, candidate.score, attention[parent]);
  }

  // Once `beam` hypotheses are complete, one that is worse than all of them even if
  // its end came next and for free is given up. (Very probable further tokens could
  // still lift its mean; waiting for them doubles the work and hardly ever pays.)
  if (sentence.finished.size() == beam) {
    const float worst = sentence.finished.back().score;
    std::erase_if(sentence.next,
                  [&](const Live& live) { return normalised(live.log_probability, step_ + 2) <= worst; });
  }
  // Nothing possible at all: only a broken network predicts this. What there is so far is the result.
  if (sentence.next.empty() && sentence.finished.empty()) {
    for (const Live& live : sentence.live) finish(sentence, live, live.log_probability, true);
  }
  if (step_ + 1 < sentence.limit) assign_slots(sentence);
  std::swap(sentence.live, sentence.next);
}

// Each hypothesis needs a slot with its own history. The first child of a parent goes on in the parent's; the others
// get copies in slots that nobody reads any more.
void Search::Batch::assign_slots(Sentence& sentence) {
  const int first = sentence.number * options_.beam;
  uint64_t taken = 0;
  static_assert(kMaxBeam <= 64);
  for (const Live& child : sentence.next) taken |= uint64_t{1} << (child.slot - first);
  uint64_t continued = 0;
  for (Live& child : sentence.next) {
    const uint64_t bit = uint64_t{1} << (child.slot - first);
    if ((continued & bit) != 0) {
      const int free = std::countr_one(taken);
      network_.copy_slot(child.slot, first + free, step_ + 1);
      child.slot = first + free;
      taken |= uint64_t{1} << free;
    } else {
      continued |= bit;
    }
  }
}

// Inserts a candidate at its place; an equal one that came earlier stays before it.
void Search::Batch::offer(const Candidate& candidate, size_t capacity) {
  if (candidates_.size() == capacity) candidates_.pop_back();
  const auto place =
      std::upper_bound(candidates_.begin(), candidates_.end(), candidate,
                       [](const Candidate& a, const Candidate& b) { return a.log_probability > b.log_probability; });
  candidates_.insert(place, candidate);
}

void Search::Batch::mask_forbidden() {
  for (const int32_t token : options_.forbidden) {
    const bool known = token >= 0 && static_cast<size_t>(token) < log_probabilities_.size();
    if (known && token != eos_) log_probabilities_[static_cast<size_t>(token)] = kImpossible;
  }
}

// Rules out the tokens that would make a loop. Returns whether
// the hypothesis was about to: the best of all was one of them.
bool Search::Batch::mask_loops(const Live& live, const LoopGuard::Limits& limits) {
  std::array<int32_t, kMaxLoopPhrase> looping;
  const int loops = live.guard.looping(limits, looping);
  float ruled_out = kImpossible;
  for (int i = 0; i < loops; ++i) {
    float& score = log_probabilities_[static_cast<size_t>(looping[static_cast<size_t>(i)])];
    ruled_out = std::max(ruled_out, score);
    score = kImpossible;
  }
  return ruled_out > kImpossible && ruled_out > *std::max_element(log_probabilities_.begin(), log_probabilities_.end());
}

int32_t Search::Batch::keep_attention(Sentence& sentence, int row) const {
  return options_.alignment ? sentence.keep_attention(network_.alignment(row)) : 0;
}

void Search::Batch::finish(Sentence& sentence, const Live& live, float log_probability, bool limited) const {
  const float score = normalised(log_probability, step_ + 1);
  sentence.finish({live.node, score, live.loop_stopped, limited}, static_cast<size_t>(options_.beam));
}

// log P / length^a, with the same bits on every platform.
float Search::Batch::normalised(float log_probability, int length) const {
  const auto tokens = static_cast<float>(length);
  if (options_.length_penalty == 1) return log_probability / tokens;
  return log_probability * exact_exp(-options_.length_penalty * exact_log(tokens));
}

Search::Search(Transformer& network) : network_(network) {}
Search::~Search() = default;

Status Search::start(std::span<const std::vector<int32_t>> sentences, const Options& options) {
  const NetworkShape& shape = network_.shape();
  if (Status status = check_options(options)) return status;
  if (shape.encoder_layers == 0) return Error{"This model is a language model: it scores text but cannot translate."};

  batch_ = std::make_unique<Batch>(network_, options, sentences.size());
  for (size_t i = 0; i < sentences.size(); ++i) {
    if (sentences[i].size() > shape.max_length) {
      return Error{"A sentence has " + std::to_string(sentences[i].size()) + " tokens, the model takes at most " +
                   std::to_string(shape.max_length) + ": split it."};
    }
    for (const int32_t token : sentences[i]) {
      if (token < 0 || static_cast<uint32_t>(token) >= shape.vocabulary) {
        return Error{"The token " + std::to_string(token) + " is not in the model's vocabulary."};
      }
    }
    if (!sentences[i].empty()) batch_->add(i, sentences[i]);
  }
  return batch_->reserve();
}

bool Search::step() { return batch_->step(); }

std::vector<Translation> Search::finish() { return std::exchange(batch_, nullptr)->translations(); }

Result<std::vector<Translation>> Search::translate(std::span<const std::vector<int32_t>> sentences,
                                                   const Options& options) {
  if (Status status = start(sentences, options)) return *status;
  do {
    if (options.cancelled != nullptr && options.cancelled(options.cancel_context))
      return Error{std::string(kCancelled)};
  } while (step());
  return finish();
}

}  // namespace octavo
