// The FP32 twin against PyTorch: the tiny models of models/train/tiny.py and what they compute.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "float_transformer.h"
#include "tiny_model.h"

namespace octavo {
namespace {

using nlohmann::json;

// The file keeps evenly spaced samples of each row.
void expect_row(const json& samples, const float* row, size_t width, const std::string& what) {
  const size_t step = width / samples.size();
  for (size_t i = 0; i < samples.size(); ++i) {
    EXPECT_NEAR(row[i * step], samples[i].get<double>(), 1e-4) << what << " column " << i * step;
  }
}

class FloatParityTest : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Models, FloatParityTest, testing::Values("tiny", "tiny-vanilla", "tiny-lm"));

TEST_P(FloatParityTest, AgreesWithPyTorch) {
  const std::string name = GetParam();
  const NetworkShape shape = shape_of(read_json(name + ".json"));
  auto file = ModelFile::open(tiny_model(name, Flavour::kFloat32));
  ASSERT_TRUE(file.ok()) << file.error();
  const auto made = FloatTransformer::create(std::make_shared<const ModelFile>(std::move(*file)));
  ASSERT_TRUE(made.ok()) << made.error();
  FloatTransformer& engine = **made;

  std::vector<float> encoder, hidden;
  engine.record([&](std::string_view what, int rows, int width, const float* values) {
    std::vector<float>* to = what == "encoder_norm" ? &encoder : what == "decoder_norm" ? &hidden : nullptr;
    if (to != nullptr) to->assign(values, values + int64_t{rows} * width);
  });
  ASSERT_FALSE(engine.reserve({1, 64, 1, 64}).has_value());
  const json expected = read_json(name + ".expected.json");
  ASSERT_GE(expected["cases"].size(), 4u);
  for (const json& wanted : expected["cases"]) {
    if (shape.encoder_layers > 0) {
      const std::vector<int32_t> source = wanted["source"];
      engine.encode(source, std::vector<int32_t>{0, static_cast<int32_t>(source.size())});
      for (size_t i = 0; i < source.size(); ++i) {
        expect_row(wanted["encoder"][i], &encoder[i * shape.width], shape.width, "encoder");
      }
    }
    const std::vector<int32_t> inputs = wanted["inputs"];
    double cross_entropy = 0;
    for (size_t t = 0; t < inputs.size(); ++t) {
      engine.step(std::vector<StepRow>{{0, 0, static_cast<int>(t), inputs[t]}});
      expect_row(wanted["hidden"][t], hidden.data(), shape.width, "hidden");
      expect_row(wanted["logits"][t], engine.logits(0).data(), shape.vocabulary, "logits");
      EXPECT_EQ(engine.best_token(0), wanted["best"][t].get<int32_t>());
      std::vector<float> log_p(shape.vocabulary);
      engine.log_probabilities(0, log_p.data());
      const size_t next = t + 1 < inputs.size() ? static_cast<size_t>(inputs[t + 1]) : shape.eos;
      cross_entropy -= log_p[next];
    }
    EXPECT_NEAR(cross_entropy, wanted["cross_entropy"].get<double>(), 1e-4 * double(inputs.size()));
  }
}

}  // namespace
}  // namespace octavo
