// A network for tests of search: its predictions are given by a function.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "search.h"

namespace octavo {

using Tokens = std::vector<int32_t>;

inline constexpr int32_t kEos = 1;
inline constexpr float kNever = -std::numeric_limits<float>::infinity();

// A network whose predictions are any function of the source and of the tokens so far. Like a real one it knows a
// history only through the slot it was fed into, so that a wrong copy, a stale slot or a wrong position shows.
class FakeTransformer final : public Transformer {
 public:
  // Unnormalised logarithms for each token of the vocabulary.
  using Model = std::function<std::vector<float>(const Tokens& source, const Tokens& history)>;

  FakeTransformer(uint32_t vocabulary, Model model) : model_(std::move(model)) {
    shape_.vocabulary = vocabulary;
    shape_.encoder_layers = 1;
    shape_.max_length = 2000;
    shape_.eos = kEos;
  }

  std::vector<float> predict(const Tokens& source, const Tokens& history) const {
    std::vector<float> x = model_(source, history);
    double sum = 0;
    for (const float v : x) sum += std::exp(static_cast<double>(v));
    for (float& v : x) v -= static_cast<float>(std::log(sum));
    return x;
  }
  static Tokens attend(const Tokens& source, const Tokens& history) {
    Tokens weights;
    const int32_t seed = std::accumulate(history.begin(), history.end(), static_cast<int32_t>(history.size()));
    for (size_t j = 0; j < source.size() + 1; ++j) weights.push_back(seed * 7 + static_cast<int32_t>(j));
    return weights;
  }

  const NetworkShape& shape() const override { return shape_; }
  Status reserve(const Capacity& capacity) override {
    capacity_ = capacity;
    slots_.assign(static_cast<size_t>(capacity.slots), {});
    return std::nullopt;
  }
  size_t memory_bytes() const override { return 0; }

  void encode(std::span<const int32_t> tokens, std::span<const int32_t> offsets) override {
    ASSERT_EQ(tokens.size(), static_cast<size_t>(capacity_.source_tokens));
    sources_.clear();
    for (size_t i = 0; i + 1 < offsets.size(); ++i) {
      ASSERT_EQ(tokens[static_cast<size_t>(offsets[i + 1] - 1)], kEos);
      sources_.emplace_back(tokens.begin() + offsets[i], tokens.begin() + offsets[i + 1] - 1);
    }
  }

  void step(std::span<const StepRow> rows) override {
    ASSERT_LE(rows.size(), static_cast<size_t>(capacity_.slots));
    std::set<int> used;
    std::set<std::pair<int, Tokens>> parents;
    probabilities_.clear();
    alignments_.clear();
    for (const StepRow& row : rows) {
      ASSERT_LT(row.position, capacity_.target_length);
      ASSERT_TRUE(used.insert(row.slot).second) << "two hypotheses in one slot";
      Tokens& slot = slots_[static_cast<size_t>(row.slot)];
      slot.resize(static_cast<size_t>(row.position));  // a slot that was left for another history may have been longer
      parents.insert({row.sentence, slot});
      slot.push_back(row.token);
      ASSERT_EQ(slot.front(), kEos);
      const Tokens history(slot.begin() + 1, slot.end());
      const Tokens& source = sources_[static_cast<size_t>(row.sentence)];
      probabilities_.push_back(predict(source, history));
      alignments_.push_back(attend(source, history));
    }
    EXPECT_EQ(copies_, rows.size() - parents.size()) << "one copy for each child but the first of a parent, no more";
    copies_ = 0;
    row_counts.push_back(rows.size());
  }
  int32_t best_token(int row) const override {
    const auto& p = probabilities_[static_cast<size_t>(row)];
    return static_cast<int32_t>(std::max_element(p.begin(), p.end()) - p.begin());
  }
  void log_probabilities(int row, float* out) const override {
    ++probability_calls;
    std::ranges::copy(probabilities_[static_cast<size_t>(row)], out);
  }
  std::span<const int32_t> alignment(int row) const override { return alignments_[static_cast<size_t>(row)]; }
  void copy_slot(int from, int to, int length) override {
    const Tokens& source = slots_[static_cast<size_t>(from)];
    ASSERT_GE(source.size(), static_cast<size_t>(length));
    slots_[static_cast<size_t>(to)] = Tokens(source.begin(), source.begin() + length);
    ++copies_;
  }

  std::vector<size_t> row_counts;  // of each step
  mutable int probability_calls = 0;

 private:
  Model model_;
  NetworkShape shape_ = {};
  Capacity capacity_ = {};
  std::vector<Tokens> sources_, slots_;
  std::vector<std::vector<float>> probabilities_;
  std::vector<Tokens> alignments_;
  size_t copies_ = 0;
};

// A Markov chain: the logarithms depend on the last token only; tokens that are not listed never come.
inline FakeTransformer::Model markov(uint32_t vocabulary, std::map<int32_t, std::map<int32_t, float>> table) {
  return [=](const Tokens&, const Tokens& history) {
    std::vector<float> x(vocabulary, kNever);
    const auto row = table.find(history.empty() ? kEos : history.back());
    if (row != table.end()) {
      for (const auto& [token, p] : row->second) x[static_cast<size_t>(token)] = std::log(p);
    }
    return x;
  };
}

// A chain that repeats `phrase` for ever and would rather do so (0.9) than end (0.06) or say 9 and end (0.04).
inline FakeTransformer::Model looping_model(const Tokens& phrase) {
  return [=](const Tokens&, const Tokens& history) {
    std::vector<float> x(10, kNever);
    if (!history.empty() && history.back() == 9) {
      x[kEos] = 0;
    } else {
      x[static_cast<size_t>(phrase[history.size() % phrase.size()])] = std::log(0.9f);
      x[kEos] = std::log(0.06f);
      x[9] = std::log(0.04f);
    }
    return x;
  };
}

inline Options unguarded(int beam, int limit) {
  Options options;
  options.beam = beam;
  options.max_length = limit;
  options.loop_phrase = 0;
  return options;
}

inline Translation translate(FakeTransformer& network, const Tokens& source, const Options& options) {
  auto result = Search(network).translate(std::vector<Tokens>{source}, options);
  EXPECT_TRUE(result.ok());
  return result.ok() ? (*result)[0] : Translation{{Hypothesis{}}};
}

}  // namespace octavo
