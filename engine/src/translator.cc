#include "octavo/translator.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "load_transformer.h"
#include "message.h"
#include "model_file.h"
#include "search.h"
#include "text/segments.h"
#include "text/vocabulary.h"

namespace octavo {
namespace {

// What one batch may hold. Larger batches would only cost memory: 32 rows already reuse each weight as often as it pays.
constexpr int kBatchRows = 32;            // hypotheses
constexpr int kBatchSourceTokens = 1024;  // over all sentences
constexpr int kBatchCacheTokens = 4096;   // hypotheses × length of the longest

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

  std::vector<size_t> take_batch(std::span<const Run> runs, std::span<const size_t> order, const Options& options) const;
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
  if (file->shape().encoder_layers == 0) return Error{"this is a language model: it scores text but does not translate"};
  std::string error;
  std::optional<Vocabulary> vocabulary = Vocabulary::load(file->vocabulary(), error);
  if (!vocabulary) return problem({"the model's vocabulary is damaged: ", error});
  if (vocabulary->size() > static_cast<int>(file->shape().vocabulary)) {
    return Error{"the model's vocabulary has more pieces than its embedding has rows"};
  }
  Result<std::unique_ptr<Transformer>> network = load_transformer(file, *kernel);
  if (!network) return Error{network.error()};
  const char* name = file->flavour() == Flavour::kFloat32 ? "float" : kernel->name;
  auto parts = std::make_unique<Parts>(Parts{std::move(file), std::move(*vocabulary), std::move(*network), name});
  return std::unique_ptr<Translator>(new Translator(std::move(parts)));
}

size_t Translator::max_tokens() const { return parts_->file->shape().max_length - 1; }  // one place is for the end mark

size_t Translator::count_tokens(std::string_view text) const { return parts_->vocabulary.encode(text).size(); }

EngineInfo Translator::info() const {
  return {parts_->kernel, std::string(parts_->file->description()), parts_->file->bytes(), parts_->network->memory_bytes()};
}

// The longest prefix of `order` (runs from long to short) that fits one batch; at least one run.
std::vector<size_t> Translator::Parts::take_batch(std::span<const Run> runs, std::span<const size_t> order,
                                                  const Options& options) const {
  const auto length = [&](size_t i) { return static_cast<int>(runs[i].tokens.size()) + 1; };
  const float factor = options.max_length_factor;
  const int target = std::min(options.max_length, static_cast<int>(factor * static_cast<float>(length(order[0]))) + options.max_length_extra);
  std::vector<size_t> batch;
  int tokens = 0;
  for (const size_t i : order) {
    const int rows = (static_cast<int>(batch.size()) + 1) * options.beam;
    tokens += length(i);
    if (!batch.empty() && (rows > kBatchRows || tokens > kBatchSourceTokens || rows * target > kBatchCacheTokens)) break;
    batch.push_back(i);
  }
  return batch;
}

// Adds one run's translation to its segment: text after a space, offsets and alignments shifted by what is already there.
void Translator::Parts::append(const std::vector<int32_t>& source, const Translation& translation, const Options& options,
                               TranslatedSegment& segment) const {
  const bool first = segment.alternatives.empty();
  const size_t source_before = segment.source_tokens, wanted = translation.alternatives.size();
  if (first) segment.alternatives.resize(wanted);
  segment.source_tokens += static_cast<uint32_t>(source.size());
  for (size_t n = 0; n < segment.alternatives.size(); ++n) {
    TranslatedText& to = segment.alternatives[n];
    const Hypothesis& from = translation.alternatives[std::min(n, wanted - 1)];
    const std::string text = vocabulary.decode(from.tokens);
    if (!to.text.empty() && !text.empty()) to.text += ' ';
    const auto base = static_cast<uint32_t>(to.text.size());
    if (options.scores || options.alignment) {
      if (!to.offsets.empty()) to.offsets.pop_back();
      for (const uint32_t offset : token_offsets(vocabulary, text, from.tokens)) to.offsets.push_back(base + offset);
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

Result<std::vector<TranslatedSegment>> Translator::translate(std::span<const std::string> segments, const Options& options) {
  if (const Status invalid = check_options(options)) return *invalid;
  std::vector<TranslatedSegment> results(segments.size());
  std::vector<Run> runs;
  for (size_t i = 0; i < segments.size(); ++i) {
    const std::string_view text = trim(segments[i]).text;
    const std::vector<int> tokens = parts_->vocabulary.encode(text);
    size_t start = 0;
    for (const size_t end : split_tokens(parts_->vocabulary, tokens, max_tokens())) {
      if (end > start) runs.push_back({i, {tokens.begin() + static_cast<std::ptrdiff_t>(start), tokens.begin() + static_cast<std::ptrdiff_t>(end)}});
      start = end;
    }
    if (options.scores || options.alignment) results[i].source_offsets = token_offsets(parts_->vocabulary, segments[i], tokens);
  }

  // Long runs first, so that the runs of a batch are about equally long and finish together.
  std::vector<size_t> order(runs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return runs[a].tokens.size() > runs[b].tokens.size(); });
  std::vector<Translation> translations(runs.size());
  Search search(*parts_->network);
  for (size_t done = 0; done < order.size();) {
    const std::vector<size_t> batch = parts_->take_batch(runs, std::span(order).subspan(done), options);
    std::vector<std::vector<int32_t>> sentences;
    for (const size_t i : batch) sentences.push_back(runs[i].tokens);
    Result<std::vector<Translation>> found = search.translate(sentences, options);
    if (!found) return Error{found.error()};
    for (size_t n = 0; n < batch.size(); ++n) translations[batch[n]] = std::move((*found)[n]);
    done += batch.size();
  }

  for (size_t i = 0; i < runs.size(); ++i) parts_->append(runs[i].tokens, translations[i], options, results[runs[i].segment]);
  for (size_t i = 0; i < segments.size(); ++i) {
    const Trimmed parts = trim(segments[i]);
    if (results[i].alternatives.empty()) {
      results[i].alternatives.emplace_back().text = parts.text;  // nothing to translate
    }
    for (TranslatedText& alternative : results[i].alternatives) {
      for (uint32_t& offset : alternative.offsets) offset += static_cast<uint32_t>(parts.before.size());
      alternative.text = concat({parts.before, alternative.text, parts.after});
    }
  }
  return results;
}

}  // namespace octavo
