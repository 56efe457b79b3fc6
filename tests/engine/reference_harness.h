// Runs a network over a batch of sentences step by step and keeps everything that it says, so that
// two networks can be compared.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "integer_transformer.h"
#include "quantizer.h"
#include "reference_transformer.h"
#include "safetensors.h"

namespace octavo {

using Tokens = std::vector<int32_t>;

struct Shape {
  uint32_t encoder, decoder, degree;
  uint32_t width = 48, heads = 3, ffn = 80, vocabulary = 80;

  NetworkShape full() const {
    return {vocabulary, width, ffn, heads, encoder, decoder, degree, AttentionKind::kPolynomial, NormKind::kL1, 128, 1};
  }
};

inline FloatWeights tiny_weights(const std::string& name) {
  Result<FloatWeights> weights = read_safetensors(OCTAVO_TEST_DATA "/" + name + ".safetensors");
  EXPECT_TRUE(weights.ok()) << weights.error();
  return std::move(*weights);
}

inline Shape tiny_shape(uint32_t encoder, uint32_t decoder, uint32_t degree) {
  return {encoder, decoder, degree, 32, 4, 64, 400};
}

inline std::shared_ptr<const ModelFile> make_file(Flavour flavour, const NetworkShape& shape,
                                                  const FloatWeights& weights) {
  Result<AlignedBytes> bytes = make_model(flavour, shape, weights, "{}", "");
  EXPECT_TRUE(bytes.ok()) << bytes.error();
  Result<ModelFile> file = ModelFile::open(std::move(*bytes));
  EXPECT_TRUE(file.ok()) << file.error();
  return std::make_shared<const ModelFile>(std::move(*file));
}

inline std::unique_ptr<ReferenceTransformer> make_reference(std::shared_ptr<const ModelFile> file,
                                                            const ReferenceOptions& options = {}) {
  auto made = ReferenceTransformer::create(std::move(file), options);
  EXPECT_TRUE(made.ok()) << made.error();
  return std::move(*made);
}

inline std::unique_ptr<IntegerTransformer> make_fast(std::shared_ptr<const ModelFile> file, std::string_view kernel) {
  auto made = IntegerTransformer::create(std::move(file), *find_kernel(kernel));
  EXPECT_TRUE(made.ok()) << made.error();
  return std::move(*made);
}

inline Tokens make_tokens(size_t count, uint32_t seed, uint32_t vocabulary) {
  Tokens tokens;
  for (size_t i = 0; i < count; ++i) {
    tokens.push_back(int32_t(((seed = seed * 1664525u + 1013904223u) >> 8) % vocabulary));
  }
  return tokens;
}

// Sentences and the target tokens that the decoder is fed.
struct Batch {
  std::vector<Tokens> sources, inputs;
};

inline Batch make_batch(const NetworkShape& shape, std::initializer_list<size_t> lengths) {
  Batch batch;
  uint32_t seed = 1;
  for (const size_t length : lengths) {
    batch.sources.push_back(make_tokens(length, seed++, shape.vocabulary));
    batch.inputs.push_back(make_tokens(1 + length * 2 / 3, 100 + seed, shape.vocabulary));
  }
  return batch;
}

// Encodes the sentences in the given order, then feeds all inputs step by step. `use` sees each row.
template <class Network, class Use>
void run(Network& network, const Batch& batch, const std::vector<int>& order, Use&& use) {
  Tokens all, offsets = {0};
  size_t longest = 0;
  for (const int s : order) {
    all.insert(all.end(), batch.sources[size_t(s)].begin(), batch.sources[size_t(s)].end());
    offsets.push_back(int32_t(all.size()));
    longest = std::max(longest, batch.inputs[size_t(s)].size());
  }
  const int count = int(order.size());
  ASSERT_FALSE(network.reserve({count, int(all.size()), count, int(longest)}).has_value());
  if (network.shape().encoder_layers > 0) network.encode(all, offsets);
  for (size_t t = 0; t < longest; ++t) {
    std::vector<StepRow> rows;
    std::vector<int> who;
    for (int place = 0; place < count; ++place) {
      const Tokens& inputs = batch.inputs[size_t(order[size_t(place)])];
      if (t >= inputs.size()) continue;
      rows.push_back({place, count - 1 - place, int(t), inputs[t]});
      who.push_back(order[size_t(place)]);
    }
    network.step(rows);
    for (size_t r = 0; r < rows.size(); ++r) use(int(r), who[r], int(t));
  }
}

inline std::vector<int> in_order(size_t count) {
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// Everything that a step computes, by sentence and step.
struct Outcome {
  std::vector<int32_t> logits, alignment;
  std::vector<float> log_probabilities;
  float unit;
  int32_t best;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};
using Outcomes = std::map<std::pair<int, int>, Outcome>;

template <class Network>
Outcomes outcomes(Network& network, const Batch& batch, const std::vector<int>& order) {
  Outcomes all;
  run(network, batch, order, [&](int row, int sentence, int step) {
    const auto copy = [](std::span<const int32_t> x) { return Tokens(x.begin(), x.end()); };
    std::vector<float> log_probabilities(network.shape().vocabulary);
    network.log_probabilities(row, log_probabilities.data());
    const bool integers = !network.logits(row).empty();
    all[{sentence, step}] = {copy(network.logits(row)), copy(network.alignment(row)), std::move(log_probabilities),
                             integers ? network.logit_unit(row) : 0, network.best_token(row)};
  });
  return all;
}

inline void expect_equal(const Outcomes& a, const Outcomes& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [where, outcome] : a) {
    const Outcome& other = b.at(where);
    EXPECT_EQ(outcome.logits, other.logits) << where.first << " step " << where.second;
    EXPECT_EQ(outcome.alignment, other.alignment) << where.first << " step " << where.second;
    ASSERT_TRUE(outcome == other) << where.first << " step " << where.second;
  }
}

}  // namespace octavo
