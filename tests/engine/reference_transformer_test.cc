// The reference transformer in all its arithmetics, against FP32 and against itself.
#include "reference_transformer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "float_transformer.h"
#include "reference_harness.h"

namespace octavo {
namespace {

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
  EXPECT_LT(at(8, 7), 3e-3);
  EXPECT_LT(at(8, 8), at(8, 7));
  for (int bits = 6; bits < 10; ++bits) EXPECT_LT(at(bits + 1, bits + 1), at(bits, bits) / 2);
  // What a scale for a whole sentence and the literal formulas cost.
  EXPECT_GT(at(8, 8, Arithmetic::kFixedPoint, Granularity::kSentence), at(8, 8));
  EXPECT_LT(at(8, 8, Arithmetic::kFixedPoint, Granularity::kSentence), 3 * at(8, 8));
  for (const Granularity granularity : {Granularity::kToken, Granularity::kSentence}) {
    EXPECT_GT(at(8, 8, Arithmetic::kPaper, granularity), 10 * at(8, 8));
    EXPECT_LT(at(8, 8, Arithmetic::kPaper, granularity), 1);
  }
}

TEST(ReferenceTransformer, EachModuleAddsItsShareOfTheError) {
  for (const uint32_t encoder : {0u, 2u}) {
    const NetworkShape shape = tiny_shape(encoder, encoder == 0 ? 1 : 2, 3).full();
    const auto file = make_file(Flavour::kFloat32, shape, tiny_weights(encoder == 0 ? "tiny-lm" : "tiny"));
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
    network.record([&](std::string_view name, int rows, int width, const float* values) {
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
  EXPECT_FALSE(ReferenceTransformer::create(make_file(Flavour::kFloat32, vanilla, weights), {}).ok());
}

}  // namespace
}  // namespace octavo
