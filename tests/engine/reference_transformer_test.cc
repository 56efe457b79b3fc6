// The reference transformer against the fast path, to the bit, and against FP32, by distance.
#include "reference_transformer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "float_transformer.h"
#include "integer_transformer.h"
#include "quantizer.h"
#include "safetensors.h"

namespace octavo {
namespace {

using Tokens = std::vector<int32_t>;

struct Shape {
  uint32_t encoder, decoder, degree;
  uint32_t width = 48, heads = 3, ffn = 80, vocabulary = 80;

  NetworkShape full() const {
    return {vocabulary,    width, ffn, heads, encoder, decoder, degree, AttentionKind::kPolynomial,
            NormKind::kL1, 128,   1};
  }
};

FloatWeights tiny_weights(const std::string& name) {
  Result<FloatWeights> weights = read_safetensors(OCTAVO_TEST_DATA "/" + name + ".safetensors");
  EXPECT_TRUE(weights.ok()) << weights.error();
  return std::move(*weights);
}

Shape tiny_shape(uint32_t encoder, uint32_t decoder, uint32_t degree) {
  return {encoder, decoder, degree, 32, 4, 64, 400};
}

std::shared_ptr<const ModelFile> make_file(Flavour flavour, const NetworkShape& shape,
                                           const FloatWeights& weights) {
  Result<AlignedBytes> bytes = make_model(flavour, shape, weights, "{}", "");
  EXPECT_TRUE(bytes.ok()) << bytes.error();
  Result<ModelFile> file = ModelFile::open(std::move(*bytes));
  EXPECT_TRUE(file.ok()) << file.error();
  return std::make_shared<const ModelFile>(std::move(*file));
}

std::unique_ptr<ReferenceTransformer> make_reference(std::shared_ptr<const ModelFile> file,
                                                     const ReferenceOptions& options = {}) {
  auto made = ReferenceTransformer::create(std::move(file), options);
  EXPECT_TRUE(made.ok()) << made.error();
  return std::move(*made);
}

std::unique_ptr<IntegerTransformer> make_fast(std::shared_ptr<const ModelFile> file,
                                              std::string_view kernel) {
  auto made = IntegerTransformer::create(std::move(file), *find_kernel(kernel));
  EXPECT_TRUE(made.ok()) << made.error();
  return std::move(*made);
}

Tokens make_tokens(size_t count, uint32_t seed, uint32_t vocabulary) {
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

Batch make_batch(const NetworkShape& shape, std::initializer_list<size_t> lengths) {
  Batch batch;
  uint32_t seed = 1;
  for (const size_t length : lengths) {
    batch.sources.push_back(make_tokens(length, seed++, shape.vocabulary));
    batch.inputs.push_back(make_tokens(1 + length * 2 / 3, 100 + seed, shape.vocabulary));
  }
  return batch;
}

// Encodes the sentences in the given order, then feeds all inputs step by step. `use` sees each
// row.
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

std::vector<int> in_order(size_t count) {
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
    all[{sentence, step}] = {copy(network.logits(row)), copy(network.alignment(row)),
                             std::move(log_probabilities), integers ? network.logit_unit(row) : 0,
                             network.best_token(row)};
  });
  return all;
}

void expect_equal(const Outcomes& a, const Outcomes& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [where, outcome] : a) {
    const Outcome& other = b.at(where);
    EXPECT_EQ(outcome.logits, other.logits) << where.first << " step " << where.second;
    EXPECT_EQ(outcome.alignment, other.alignment) << where.first << " step " << where.second;
    ASSERT_TRUE(outcome == other) << where.first << " step " << where.second;
  }
}

void expect_fast_equals_reference(const NetworkShape& shape, const FloatWeights& weights) {
  const auto file = make_file(Flavour::kInt8, shape, weights);
  const Batch batch = make_batch(shape, {1, 7, 2, 25, 12});
  const auto reference = make_reference(file);
  const Outcomes expected = outcomes(*reference, batch, in_order(5));
  for (const char* kernel : {"reference", "simd128", "relaxed"}) {
    const auto fast = make_fast(file, kernel);
    ASSERT_NO_FATAL_FAILURE(expect_equal(outcomes(*fast, batch, in_order(5)), expected)) << kernel;
  }
  // Quantising FP32 weights on the fly gives the same integers as the file.
  const auto on_the_fly = make_reference(make_file(Flavour::kFloat32, shape, weights));
  ASSERT_NO_FATAL_FAILURE(expect_equal(outcomes(*on_the_fly, batch, in_order(5)), expected));
}

TEST(ReferenceTransformer, EqualsTheFastPathOnTrainedShapes) {
  for (uint32_t degree = 1; degree <= 5; ++degree) {
    SCOPED_TRACE(degree);
    expect_fast_equals_reference(tiny_shape(2, 2, degree).full(), tiny_weights("tiny"));
    expect_fast_equals_reference(tiny_shape(0, 1, degree).full(), tiny_weights("tiny-lm"));
  }
}

TEST(ReferenceTransformer, EqualsTheFastPathOnRandomShapes) {
  const Shape shapes[] = {
      {1, 1, 3, 16, 2, 16, 16},
      {2, 1, 3, 16, 1, 528, 48},
      {1, 2, 5, 80, 2, 16, 160},
      {1, 1, 4, 144, 9, 64, 96},
      {0, 3, 2, 64, 8, 32, 64},
      {3, 0 + 1, 1, 32, 4, 48, 32},
      {1, 1, 3, 240, 10, 96, 64},
      {0, 2, 5},
      {2, 2, 3},
  };
  uint64_t seed = 1;
  for (const Shape& shape : shapes) {
    SCOPED_TRACE(seed);
    expect_fast_equals_reference(shape.full(), random_weights(shape.full(), seed++));
  }
}

// Numbers of very different magnitudes, zeros, and heads that see nothing.
TEST(ReferenceTransformer, EqualsTheFastPathOnExtremeWeights) {
  for (uint32_t degree = 1; degree <= 5; ++degree) {
    const NetworkShape shape = Shape{1, 1, degree, 32, 4, 32, 48}.full();
    FloatWeights weights = random_weights(shape, 50 + degree);
    float factor = 1e-4f;
    for (auto& [name, tensor] : weights) {
      for (float& value : tensor.values) value *= factor;
      factor = factor > 100 ? 1e-4f : factor * 7;
    }
    for (auto& b : weights["encoder.0.self_attn.b"].values) b = -1000;
    weights["decoder.0.self_attn.b"].values = {0, -1e-20f, 30, -0.01f};
    weights["decoder.0.self_attn.delta"].values = {0, 1e6f, 1e-9f, 3};
    std::ranges::fill(weights["decoder.0.cross_attn.kv.weight"].values, 0.0f);
    std::ranges::fill(weights["decoder.0.cross_attn.kv.bias"].values, 0.0f);
    std::ranges::fill(weights["encoder.0.self_norm.b"].values, 0.0f);
    SCOPED_TRACE(degree);
    expect_fast_equals_reference(shape, weights);
  }
}

std::vector<ReferenceOptions> every_kind() {
  std::vector<ReferenceOptions> kinds;
  for (const Arithmetic mode : {Arithmetic::kFixedPoint, Arithmetic::kPaper}) {
    for (const Granularity granularity : {Granularity::kToken, Granularity::kSentence}) {
      kinds.push_back({{mode, granularity, 8}, 7, kAllModules});
    }
  }
  kinds.push_back({{Arithmetic::kFixedPoint, Granularity::kToken, 10}, 10, kAllModules});
  for (uint32_t module = 1; module < kAllModules; module *= 2) kinds.push_back({{}, 7, module});
  return kinds;
}

// A row depends on its own sentence and history only, in every arithmetic.
TEST(ReferenceTransformer, BatchesDoNotMatter) {
  const NetworkShape shape = Shape{1, 1, 3, 32, 4, 32, 48}.full();
  const auto file = make_file(Flavour::kFloat32, shape, random_weights(shape, 3));
  Batch batch;
  for (uint32_t s = 0; s < 64; ++s) {
    batch.sources.push_back(make_tokens(1 + s * 5 % 13, s, 48));
    batch.inputs.push_back(make_tokens(1 + s % 4, 70 + s, 48));
  }
  for (const ReferenceOptions& options : every_kind()) {
    const auto network = make_reference(file, options);
    const Outcomes all = outcomes(*network, batch, in_order(64));
    std::vector<int> shuffled = in_order(64);
    for (size_t i = 0; i < 64; ++i) std::swap(shuffled[i], shuffled[i * 37 % 64]);
    ASSERT_NO_FATAL_FAILURE(expect_equal(outcomes(*network, batch, shuffled), all));
    const std::vector<int> seven = {63, 5, 17, 8, 0, 41, 30};
    for (const auto& [where, outcome] : outcomes(*network, batch, seven)) {
      ASSERT_TRUE(outcome == all.at(where));
    }
    for (const int alone : {0, 9, 63}) {
      for (const auto& [where, outcome] : outcomes(*network, batch, {alone})) {
        ASSERT_TRUE(outcome == all.at(where));
      }
    }
  }
}

TEST(ReferenceTransformer, CopiedSlotContinuesTheSameHistory) {
  for (const uint32_t encoder : {0u, 1u}) {
    const NetworkShape shape = Shape{encoder, 2, 3, 32, 4, 32, 48}.full();
    const auto file = make_file(Flavour::kFloat32, shape, random_weights(shape, 4));
    for (const ReferenceOptions& options : every_kind()) {
      const auto network = make_reference(file, options);
      ASSERT_FALSE(network->reserve({1, 7, 3, 8}).has_value());
      const Tokens source = make_tokens(7, 9, 48), offsets = {0, 7};
      network->encode(source, offsets);
      for (int t = 0; t < 4; ++t) {
        network->step(std::vector<StepRow>{{0, 1, t, 10 + t}, {0, 2, t, 40 - t}});
      }
      network->step(std::vector<StepRow>{{0, 1, 4, 20}});  // goes too far: the copy is cut off
      network->copy_slot(1, 0, 4);
      network->step(std::vector<StepRow>{{0, 0, 4, 33}, {0, 1, 4, 33}, {0, 2, 4, 33}});
      std::vector<float> p[3];
      for (int row = 0; row < 3; ++row) {
        p[row].resize(48);
        network->log_probabilities(row, p[row].data());
      }
      EXPECT_EQ(p[0], p[1]);
      EXPECT_NE(p[0], p[2]);
    }
  }
}

// Mean squared error of log-probabilities against FP32.
double distance(const std::shared_ptr<const ModelFile>& file, const ReferenceOptions& options) {
  auto real = FloatTransformer::create(file);
  EXPECT_TRUE(real.ok());
  const auto reference = make_reference(file, options);
  const Batch batch = make_batch(file->shape(), {5, 9, 17});
  std::map<std::pair<int, int>, std::vector<float>> expected;
  const auto row_of = [](Transformer& network, int row) {
    std::vector<float> p(network.shape().vocabulary);
    network.log_probabilities(row, p.data());
    return p;
  };
  run(**real, batch, in_order(3),
      [&](int row, int sentence, int step) { expected[{sentence, step}] = row_of(**real, row); });
  double error = 0;
  size_t count = 0;
  run(*reference, batch, in_order(3), [&](int row, int sentence, int step) {
    const std::vector<float> got = row_of(*reference, row), &want = expected[{sentence, step}];
    for (size_t j = 0; j < got.size(); ++j) {
      error += (got[j] - want[j]) * (got[j] - want[j]);
      ++count;
    }
  });
  return error / double(count);
}

TEST(ReferenceTransformer, ComesCloserToFp32WithEveryBit) {
  const NetworkShape shape = tiny_shape(2, 2, 3).full();
  const auto file = make_file(Flavour::kFloat32, shape, tiny_weights("tiny"));
  const auto at = [&](int bits, int weight_bits, Arithmetic mode = Arithmetic::kFixedPoint,
                      Granularity granularity = Granularity::kToken) {
    return distance(file, {{mode, granularity, bits}, weight_bits, kAllModules});
  };
  EXPECT_LT(at(8, 7), 1e-3);
  EXPECT_LT(at(8, 8), at(8, 7));
  for (int bits = 6; bits < 10; ++bits) EXPECT_LT(at(bits + 1, bits + 1), at(bits, bits) / 2);
  // What the literal formulas and a scale for a whole sentence cost.
  EXPECT_GT(at(8, 8, Arithmetic::kPaper), 2 * at(8, 8));
  EXPECT_GT(at(8, 8, Arithmetic::kFixedPoint, Granularity::kSentence), at(8, 8));
  EXPECT_LT(at(8, 8, Arithmetic::kPaper), 0.2);
  EXPECT_LT(at(8, 8, Arithmetic::kPaper, Granularity::kSentence), 1);
}

TEST(ReferenceTransformer, EachModuleAddsItsShareOfTheError) {
  for (const uint32_t encoder : {0u, 2u}) {
    const NetworkShape shape = tiny_shape(encoder, encoder == 0 ? 1 : 2, 3).full();
    const auto file =
        make_file(Flavour::kFloat32, shape, tiny_weights(encoder == 0 ? "tiny-lm" : "tiny"));
    const double none = distance(file, {{}, 7, 0});
    EXPECT_LT(none, 1e-9);  // all in FP32: the twin itself
    const double all = distance(file, {{}, 7, kAllModules});
    for (uint32_t module = 1; module < kAllModules; module *= 2) {
      const double one = distance(file, {{}, 7, module});
      EXPECT_GT(one, 1e-8) << module;
      EXPECT_LT(one, all * 1.5) << module;
      EXPECT_LT(distance(file, {{}, 7, kAllModules - module}), all * 1.5) << module;
    }
  }
}

// Names, order and shape of what observers see are the twin's.
TEST(ReferenceTransformer, ShowsWhatTheTwinShows) {
  const NetworkShape shape = tiny_shape(2, 2, 3).full();
  const auto file = make_file(Flavour::kFloat32, shape, tiny_weights("tiny"));
  const Batch batch = make_batch(shape, {5, 9});
  using Seen = std::map<std::string, std::vector<float>, std::less<>>;
  const auto watch = [&](auto& network) {
    Seen seen;
    network.observe([&](std::string_view name, int rows, int width, const float* values) {
      auto& all = seen[std::string(name)];
      all.insert(all.end(), values, values + rows * width);
    });
    run(network, batch, in_order(2), [](int, int, int) {});
    return seen;
  };
  auto twin = FloatTransformer::create(file);
  const auto reference = make_reference(file);
  const Seen expected = watch(**twin), got = watch(*reference);
  ASSERT_EQ(expected.size(), 2u * 4 + 1 + 2 * 6 + 1);
  for (const auto& [name, values] : expected) {
    const auto found = got.find(name);
    ASSERT_NE(found, got.end()) << name;
    ASSERT_EQ(found->second.size(), values.size()) << name;
    double error = 0, size = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      error += std::pow(values[i] - found->second[i], 2);
      size += std::pow(values[i], 2);
    }
    EXPECT_LT(error / size, 2e-3) << name;
    EXPECT_GT(error, 0) << name;
  }
}

TEST(ReferenceTransformer, RefusesWhatItCannotRun) {
  const NetworkShape shape = Shape{1, 1, 3}.full();
  const FloatWeights weights = random_weights(shape, 1);
  const auto int8 = make_file(Flavour::kInt8, shape, weights);
  EXPECT_FALSE(ReferenceTransformer::create(int8, {{}, 7, kAllModules - kAttention}).ok());
  EXPECT_FALSE(ReferenceTransformer::create(int8, {{.bits = 11}, 7, kAllModules}).ok());
  EXPECT_FALSE(ReferenceTransformer::create(int8, {{}, 5, kAllModules}).ok());
  NetworkShape vanilla = shape;
  vanilla.attention = AttentionKind::kSoftmax;
  EXPECT_FALSE(
      ReferenceTransformer::create(make_file(Flavour::kFloat32, vanilla, weights), {}).ok());
}

}  // namespace
}  // namespace octavo
