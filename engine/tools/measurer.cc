#include "measurer.h"

#include <algorithm>
#include <utility>

#include "bleu.h"
#include "search.h"
#include "text/segments.h"

namespace octavo {
namespace {

constexpr size_t kBatch = 64;  // sentences at a time; changes nothing but speed

}  // namespace

Measurer::Measurer(Vocabulary vocabulary, const NetworkShape& shape, std::span<const std::string> sources,
                   std::span<const std::string> references)
    : vocabulary_(std::move(vocabulary)), shape_(shape), references_(references) {
  const auto end = static_cast<int32_t>(shape_.eos);
  for (size_t i = 0; i < sources.size(); ++i) {
    const std::vector<int> source = vocabulary_.encode(trim(sources[i]).text);
    std::vector<Tokens>& runs = runs_.emplace_back();
    size_t start = 0;
    for (const size_t stop : split_tokens(vocabulary_, source, shape_.max_length - 1)) {
      const auto at = [&](size_t n) { return source.begin() + static_cast<std::ptrdiff_t>(n); };
      if (stop > start) runs.emplace_back(at(start), at(stop));
      start = stop;
    }
    Example example = {source, vocabulary_.encode(references[i])};
    example.source.push_back(end);
    example.target.push_back(end);
    const size_t longest = std::max(example.source.size(), example.target.size());
    if (longest <= shape_.max_length) examples_.push_back(std::move(example));
  }
  // Of about equal length, they finish together.
  std::ranges::stable_sort(examples_, {}, [](const Example& e) { return e.target.size(); });
}

Status Measurer::translate(Transformer& network, Measurement& result) const {
  std::vector<std::pair<size_t, size_t>> order;  // (source, run), long ones first
  std::vector<std::vector<std::string>> texts;
  for (size_t i = 0; i < runs_.size(); ++i) {
    texts.emplace_back(runs_[i].size());
    for (size_t n = 0; n < runs_[i].size(); ++n) order.emplace_back(i, n);
  }
  const auto run_at = [&](const auto& place) -> const Tokens& { return runs_[place.first][place.second]; };
  std::ranges::stable_sort(order, std::greater(), [&](const auto& place) { return run_at(place).size(); });
  const std::vector<int32_t> forbidden = vocabulary_.without_text(static_cast<int>(shape_.vocabulary));
  Search search(network);
  for (size_t first = 0; first < order.size(); first += kBatch) {
    const size_t count = std::min(kBatch, order.size() - first);
    std::vector<Tokens> batch;
    for (size_t k = 0; k < count; ++k) batch.push_back(run_at(order[first + k]));
    const Result<std::vector<Translation>> found = search.translate(batch, {.forbidden = forbidden});
    if (!found) return Error{found.error()};
    for (size_t k = 0; k < count; ++k) {
      const auto [i, n] = order[first + k];
      texts[i][n] = vocabulary_.decode((*found)[k].alternatives.front().tokens);
    }
  }
  Bleu bleu;
  for (size_t i = 0; i < texts.size(); ++i) {
    std::string text;
    for (const std::string& part : texts[i]) text += (text.empty() ? "" : " ") + part;
    bleu.add(text, references_[i]);
    result.translations.push_back(std::move(text));
  }
  result.bleu = bleu.score().bleu;
  return std::nullopt;
}

Status Measurer::force(std::span<Transformer* const> networks,
                       const std::function<void(int row, int32_t next)>& use) const {
  const auto end = static_cast<int32_t>(shape_.eos);
  for (size_t first = 0; first < examples_.size(); first += kBatch) {
    const auto batch = std::span(examples_).subspan(first, std::min(kBatch, examples_.size() - first));
    Tokens tokens, offsets = {0};
    for (const Example& example : batch) {
      tokens.insert(tokens.end(), example.source.begin(), example.source.end());
      offsets.push_back(static_cast<int32_t>(tokens.size()));
    }
    const int count = static_cast<int>(batch.size());
    const size_t longest = batch.back().target.size();
    for (Transformer* network : networks) {
      const Capacity capacity = {count, offsets.back(), count, static_cast<int>(longest)};
      if (Status status = network->reserve(capacity)) return status;
      network->encode(tokens, offsets);
    }
    for (size_t t = 0; t < longest; ++t) {
      std::vector<StepRow> rows;
      for (int i = 0; i < count; ++i) {
        const Tokens& target = batch[static_cast<size_t>(i)].target;
        if (t < target.size()) rows.push_back({i, i, static_cast<int>(t), t == 0 ? end : target[t - 1]});
      }
      for (Transformer* network : networks) network->step(rows);
      for (size_t r = 0; r < rows.size(); ++r) {
        use(static_cast<int>(r), batch[static_cast<size_t>(rows[r].slot)].target[t]);
      }
    }
  }
  return std::nullopt;
}

Result<Measurement> Measurer::measure(Transformer& network) const {
  Measurement result;
  if (Status status = translate(network, result)) return *status;
  double sum = 0;
  std::vector<float> log_probabilities(shape_.vocabulary);
  const Status status = force({{&network}}, [&](int row, int32_t next) {
    network.log_probabilities(row, log_probabilities.data());
    sum += double{log_probabilities[static_cast<size_t>(next)]};
    result.best.push_back(network.best_token(row));
  });
  if (status) return *status;
  result.cross_entropy = -sum / static_cast<double>(std::max<size_t>(result.best.size(), 1));
  return result;
}

}  // namespace octavo
