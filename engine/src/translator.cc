#include "octavo/translator.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "inspector.h"
#include "load_transformer.h"
#include "message.h"
#include "model_file.h"
#include "search.h"
#include "text/segments.h"
#include "text/vocabulary.h"

namespace octavo {
namespace {

// What one batch may hold. Larger batches would only cost
// memory: 32 rows already reuse each weight as often as it pays.
constexpr int kBatchRows = 32;           // hypotheses
constexpr int kBatchSourceTokens = 384;  // over all sentences: the encoder takes some 50 ms, the grain of cancelling
constexpr int kBatchCacheTokens = 4096;  // hypotheses × length of the longest

// Alignments take source × target: 32 MB for a segment of this many tokens, and no memory is large enough for a book.
constexpr size_t kMaxAlignedTokens = 2048;

constexpr std::string_view kBusy = "the translator is at work on another text: finish or drop that first";

// Allocates now what the largest batches need, of many short sentences and of few long ones, so that memory does not
// grow later; only wide beams over long sentences need more.
Status reserve_for_any_batch(Transformer& network) {
  const auto longest = static_cast<int>(network.shape().max_length);
  const Options options;
  const int target =
      std::min(static_cast<int>(options.max_length_factor * static_cast<float>(longest)) + options.max_length_extra,
               options.max_length);
  const int tokens = std::max(kBatchSourceTokens, longest);
  const Status status = network.reserve({kBatchRows, tokens, kBatchRows, kBatchCacheTokens / kBatchRows});
  return status ? status : network.reserve({kBatchRows, tokens, std::max(1, kBatchCacheTokens / target), target});
}

// A piece of work for the search: one segment, or one run of a segment that is too long.
struct Run {
  size_t segment;
  std::vector<int32_t> tokens;
};

}  // namespace

struct Translator::Parts {
  std::shared_ptr<const ModelFile> file;
  Vocabulary vocabulary;
  std::unique_ptr<Transformer> network;
  std::string kernel;
  std::vector<int32_t> without_text;  // tokens that no translation may contain
  const void* at_work = nullptr;      // the job whose batch is in the network's memory

  std::vector<size_t> take_batch(std::span<const Run> runs, std::span<const size_t> order,
                                 const Options& options) const;
  void append(const std::vector<int32_t>& source, const Translation& translation, const Options& options,
              TranslatedSegment& segment) const;
};

Translator::Translator(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Translator::~Translator() = default;

Result<std::unique_ptr<Translator>> Translator::load(AlignedBytes bytes, std::string_view kernel_name) {
  const Kernel* kernel = kernel_name.empty() ? &best_kernel() : find_kernel(kernel_name);
  if (kernel == nullptr) return problem({"there is no kernel \"", kernel_name, "\" in this build"});
  Result<ModelFile> opened = ModelFile::open(std::move(bytes));
  if (!opened) return Error{opened.error()};
  auto file = std::make_shared<const ModelFile>(std::move(*opened));
  if (file->shape().encoder_layers == 0)
    return Error{"this is a language model: it scores text but does not translate"};
  std::string error;
  std::optional<Vocabulary> vocabulary = Vocabulary::load(file->vocabulary(), error);
  if (!vocabulary) return problem({"the model's vocabulary is damaged: ", error});
  if (vocabulary->size() > static_cast<int>(file->shape().vocabulary)) {
    return Error{"the model's vocabulary has more pieces than its embedding has rows"};
  }
  Result<std::unique_ptr<Transformer>> network = load_transformer(file, *kernel);
  if (!network) return Error{network.error()};
  if (Status status = reserve_for_any_batch(**network)) return *std::move(status);
  const char* name = file->flavour() == Flavour::kFloat32 ? "float" : kernel->name;
  std::vector<int32_t> without_text = vocabulary->without_text(static_cast<int>(file->shape().vocabulary));
  auto parts = std::make_unique<Parts>(
      Parts{std::move(file), std::move(*vocabulary), std::move(*network), name, std::move(without_text)});
  return std::unique_ptr<Translator>(new Translator(std::move(parts)));
}

size_t Translator::max_tokens() const { return parts_->file->shape().max_length - 1; }  // one place is for the end mark

size_t Translator::count_tokens(std::string_view text) const { return parts_->vocabulary.encode(text).size(); }

Result<Inspection> Translator::inspect(std::string_view sentence, std::string_view translation) {
  std::vector<int32_t> source = parts_->vocabulary.encode(trim(sentence).text);
  std::vector<int32_t> target = parts_->vocabulary.encode(trim(translation).text);
  if (source.empty()) return Error{"there is nothing to inspect in a blank text"};
  if (const size_t longest = std::max(source.size(), target.size()); longest > max_tokens()) {
    return problem({"only sentences of up to ", std::to_string(max_tokens()), " tokens can be inspected; this has ",
                    std::to_string(longest)});
  }
  if (parts_->at_work != nullptr) return Error{std::string(kBusy)};
  return octavo::inspect(*parts_->network, parts_->vocabulary, std::move(source), std::move(target));
}

EngineInfo Translator::info() const {
  return {parts_->kernel, std::string(parts_->file->description()), parts_->file->bytes(),
          parts_->network->memory_bytes()};
}

// The longest prefix of `order` (runs from long to short) that fits one batch; at least one run.
std::vector<size_t> Translator::Parts::take_batch(std::span<const Run> runs, std::span<const size_t> order,
                                                  const Options& options) const {
  const auto length = [&](size_t i) { return static_cast<int>(runs[i].tokens.size()) + 1; };
  const float factor = options.max_length_factor;
  const int target = std::min(
      options.max_length, static_cast<int>(factor * static_cast<float>(length(order[0]))) + options.max_length_extra);
  std::vector<size_t> batch;
  int tokens = 0;
  for (const size_t i : order) {
    const int rows = (static_cast<int>(batch.size()) + 1) * options.beam;
    tokens += length(i);
    if (!batch.empty() && (rows > kBatchRows || tokens > kBatchSourceTokens || rows * target > kBatchCacheTokens))
      break;
    batch.push_back(i);
  }
  return batch;
}

// Adds one run's translation to its segment: text after a space if the source had one
// there, offsets and alignments shifted by what is already there.
void Translator::Parts::append(const std::vector<int32_t>& source, const Translation& translation,
                               const Options& options, TranslatedSegment& segment) const {
  const bool first = segment.alternatives.empty(), spaced = starts_with_space(vocabulary.piece(source.front()));
  const size_t source_before = segment.source_tokens, wanted = translation.alternatives.size();
  if (first) segment.alternatives.resize(wanted);
  segment.source_tokens += static_cast<uint32_t>(source.size());
  for (size_t n = 0; n < segment.alternatives.size(); ++n) {
    TranslatedText& to = segment.alternatives[n];
    const Hypothesis& from = translation.alternatives[std::min(n, wanted - 1)];
    std::vector<uint32_t> offsets;
    const std::string text = vocabulary.decode(from.tokens, &offsets);
    if (!to.text.empty() && !text.empty() && spaced) to.text += ' ';
    const auto base = static_cast<uint32_t>(to.text.size());
    if (options.scores || options.alignment) {
      if (!to.offsets.empty()) to.offsets.pop_back();
      for (const uint32_t offset : offsets) to.offsets.push_back(base + offset);
    }
    to.text += text;
    to.score = first ? from.score : std::min(to.score, from.score);  // a segment is as doubtful as its worst run
    to.token_scores.insert(to.token_scores.end(), from.token_scores.begin(), from.token_scores.end());
    for (const std::vector<int32_t>& row : from.alignment) {
      std::vector<int32_t>& shifted = to.alignment.emplace_back(source_before, 0);
      shifted.insert(shifted.end(), row.begin(), row.begin() + static_cast<std::ptrdiff_t>(source.size()));
    }
    to.loop_stopped |= from.loop_stopped;
    to.length_limited |= from.length_limited;
  }
}

struct TranslationJob::State {
  Translator::Parts& parts;
  Options options;
  std::vector<int32_t> forbidden;  // what options.forbidden refers to
  std::vector<std::string> segments;
  std::vector<TranslatedSegment> results;
  std::vector<Run> runs;
  std::vector<size_t> order;  // of the runs: long ones first, so that those of a batch are about equally long
  size_t done = 0;            // runs of `order` that are translated
  std::vector<size_t> batch;  // being translated now
  std::vector<Translation> translations;
  Search search;
};

TranslationJob::TranslationJob(std::unique_ptr<State> state) : state_(std::move(state)) {}
TranslationJob::~TranslationJob() {
  if (state_->parts.at_work == this) state_->parts.at_work = nullptr;
}

Result<std::unique_ptr<TranslationJob>> Translator::start(std::vector<std::string> segments, const Options& options) {
  if (const Status invalid = check_options(options)) return *invalid;
  const Vocabulary& vocabulary = parts_->vocabulary;
  std::unique_ptr<TranslationJob::State> state(new TranslationJob::State{
      *parts_, options, parts_->without_text, std::move(segments), {}, {}, {}, 0, {}, {}, Search(*parts_->network)});
  state->forbidden.insert(state->forbidden.end(), options.forbidden.begin(), options.forbidden.end());
  state->options.forbidden = state->forbidden;
  state->results.resize(state->segments.size());
  for (size_t i = 0; i < state->segments.size(); ++i) {
    const Trimmed parts = trim(state->segments[i]);
    std::vector<uint32_t>& offsets = state->results[i].source_offsets;
    const bool located = options.scores || options.alignment;
    const std::vector<int> tokens = vocabulary.encode(parts.text, located ? &offsets : nullptr);
    if (options.alignment && tokens.size() > kMaxAlignedTokens) {
      return problem({"a segment of ", std::to_string(tokens.size()),
                      " tokens is too long to be aligned: split it, at most ", std::to_string(kMaxAlignedTokens),
                      " are possible"});
    }
    for (uint32_t& offset : offsets) offset += static_cast<uint32_t>(parts.before.size());
    auto start = tokens.begin();
    for (const size_t end : split_tokens(vocabulary, tokens, max_tokens())) {
      const auto stop = tokens.begin() + static_cast<std::ptrdiff_t>(end);
      if (stop != start) state->runs.push_back({i, {start, stop}});
      start = stop;
    }
  }
  std::vector<size_t>& order = state->order;
  order.resize(state->runs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return state->runs[a].tokens.size() > state->runs[b].tokens.size(); });
  state->translations.resize(order.size());
  return std::unique_ptr<TranslationJob>(new TranslationJob(std::move(state)));
}

Result<bool> TranslationJob::advance() {
  State& state = *state_;
  if (state.batch.empty()) {
    if (state.done == state.order.size()) return false;
    if (state.parts.at_work != nullptr) return Error{std::string(kBusy)};
    std::vector<size_t> batch =
        state.parts.take_batch(state.runs, std::span(state.order).subspan(state.done), state.options);
    std::vector<std::vector<int32_t>> sentences;
    for (const size_t i : batch) sentences.push_back(state.runs[i].tokens);
    if (const Status status = state.search.start(sentences, state.options)) return *status;
    state.batch = std::move(batch);  // only now: after a failure there is nothing to step
    state.parts.at_work = this;
  }
  if (state.search.step()) return true;
  std::vector<Translation> found = state.search.finish();
  for (size_t n = 0; n < found.size(); ++n) state.translations[state.batch[n]] = std::move(found[n]);
  state.done += state.batch.size();
  state.batch.clear();
  state.parts.at_work = nullptr;
  return state.done < state.order.size();
}

std::vector<TranslatedSegment> TranslationJob::finish() {
  State& state = *state_;
  for (size_t i = 0; i < state.runs.size(); ++i) {
    const Run& run = state.runs[i];
    state.parts.append(run.tokens, state.translations[i], state.options, state.results[run.segment]);
  }
  for (size_t i = 0; i < state.segments.size(); ++i) {
    const Trimmed parts = trim(state.segments[i]);
    std::vector<TranslatedText>& alternatives = state.results[i].alternatives;
    if (alternatives.empty()) alternatives.emplace_back().text = parts.text;  // nothing to translate
    for (TranslatedText& alternative : alternatives) {
      for (auto& row : alternative.alignment) row.resize(state.results[i].source_tokens);  // what later runs added
      for (uint32_t& offset : alternative.offsets) offset += static_cast<uint32_t>(parts.before.size());
      alternative.text = concat({parts.before, alternative.text, parts.after});
    }
  }
  return std::move(state.results);
}

Result<std::vector<TranslatedSegment>> Translator::translate(std::vector<std::string> segments,
                                                             const Options& options) {
  Result<std::unique_ptr<TranslationJob>> job = start(std::move(segments), options);
  if (!job) return Error{job.error()};
  for (;;) {
    if (options.cancelled != nullptr && options.cancelled(options.cancel_context))
      return Error{std::string(kCancelled)};
    const Result<bool> more = (*job)->advance();
    if (!more) return Error{more.error()};
    if (!*more) return (*job)->finish();
  }
}

}  // namespace octavo
