#include "quantizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "float_network.h"
#include "integer_network.h"
#include "kernels/kernel.h"

namespace octavo {
namespace {

NetworkShape small_shape() {
  return {.vocabulary = 64,
          .width = 32,
          .ffn = 48,
          .heads = 4,
          .encoder_layers = 2,
          .decoder_layers = 1,
          .degree = 3,
          .attention = AttentionKind::kPolynomial,
          .norm = NormKind::kL1,
          .max_length = 64,
          .eos = 1};
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// What the stored integers stand for.
std::vector<float> restore(const QuantizedMatrix& matrix, uint32_t rows, uint32_t cols) {
  std::vector<float> w;
  for (uint32_t j = 0; j < rows; ++j) {
    const double scale = 32768.0 * double{matrix.scale} / matrix.column[j];
    for (uint32_t k = 0; k < cols; ++k) {
      const int u = matrix.panels[static_cast<size_t>(panel_index(j, k, cols))];
      EXPECT_TRUE(u >= 1 && u <= 127);
      w.push_back(static_cast<float>((u - kWeightOffset) / scale));
    }
  }
  return w;
}

TEST(Quantizer, RowsKeepTheirOwnScale) {
  constexpr uint32_t kRows = 16, kCols = 128;  // long enough for the mean error of a row to mean something
  std::vector<float> w(kRows * kCols);
  for (uint32_t j = 0; j < kRows; ++j) {
    const float size = std::ldexp(1.0f, -static_cast<int>(j % 8));  // rows differ by up to 2^7
    for (uint32_t k = 0; k < kCols; ++k) w[j * kCols + k] = size * std::sin(static_cast<float>(3 * j + 5 * k + 1));
  }
  const QuantizedMatrix matrix = quantize_matrix(w.data(), kRows, kCols);
  const std::vector<float> back = restore(matrix, kRows, kCols);
  EXPECT_EQ(*std::max_element(matrix.column.begin(), matrix.column.end()), 32767);
  for (uint32_t j = 0; j < kRows; ++j) {
    float max = 0, error = 0, loss = 0;
    for (uint32_t k = 0; k < kCols; ++k) {
      max = std::max(max, std::abs(w[j * kCols + k]));
      error = std::max(error, std::abs(w[j * kCols + k] - back[j * kCols + k]));
      loss += (w[j * kCols + k] - back[j * kCols + k]) * (w[j * kCols + k] - back[j * kCols + k]);
    }
    EXPECT_LE(error, max * 0.2f);                               // the strongest clip
    EXPECT_LE(std::sqrt(loss / kCols), max / 63 * 0.33f) << j;  // without clipping 1/√12 = 0.289 of a step is expected
  }
}

TEST(Quantizer, OutliersAreClippedOnlyWhenItPays) {
  std::vector<float> w(8 * 16, 0.5f);
  for (uint32_t k = 0; k < 16; ++k) w[k] = k % 2 ? 1.0f : -1.0f;  // exactly representable: nothing to gain
  const QuantizedMatrix matrix = quantize_matrix(w.data(), 8, 16);
  const std::vector<float> back = restore(matrix, 8, 16);
  for (size_t i = 0; i < w.size(); ++i) EXPECT_NEAR(back[i], w[i], 1e-4);
}

TEST(Quantizer, ExtremeRows) {
  constexpr uint32_t kRows = 8, kCols = 16;
  std::vector<float> w(kRows * kCols, 0.0f);
  w[0] = 1000;            // row 0: one weight
  w[1 * kCols] = 1e-30f;  // row 1: nothing beside row 0
  w[2 * kCols + 5] = std::numeric_limits<float>::denorm_min();
  w[3 * kCols + 1] = -1000;
  // rows 4..7: all zero
  const QuantizedMatrix matrix = quantize_matrix(w.data(), kRows, kCols);
  const std::vector<float> back = restore(matrix, kRows, kCols);
  for (size_t i = 0; i < w.size(); ++i) EXPECT_NEAR(back[i], w[i], 1000 * 1e-4);
  for (uint32_t j = 4; j < kRows; ++j) EXPECT_EQ(matrix.column[j], 32767);
  for (uint32_t j = 0; j < kRows; ++j) EXPECT_TRUE(matrix.column[j] >= 1 && matrix.column[j] <= 32767);

  const std::vector<float> zero(kRows * kCols, 0.0f), tiny(kRows * kCols, 1e-38f);
  for (const auto& matrix_of : {zero, tiny}) {
    const QuantizedMatrix nothing = quantize_matrix(matrix_of.data(), kRows, kCols);
    EXPECT_TRUE(nothing.scale >= kScaleMin && nothing.scale <= kScaleMax) << nothing.scale;
    for (const uint8_t u : nothing.panels) EXPECT_EQ(u, kWeightOffset);
  }
}

// Every tensor of an INT8 file stands for its FP32 weights, in
// particular q, k and v for the rows of the stack they came from.
TEST(Quantizer, IntegerFileStandsForTheWeights) {
  const NetworkShape shape = small_shape();
  const FloatWeights weights = random_weights(shape, 3);
  Result<AlignedBytes> bytes = make_model(Flavour::kInt8, shape, weights, "{}", "v");
  ASSERT_TRUE(bytes.ok()) << bytes.error();
  const Result<ModelFile> model = ModelFile::open(std::move(*bytes));
  ASSERT_TRUE(model.ok()) << model.error();
  const Result<IntegerNetwork> network = IntegerNetwork::view(*model);
  ASSERT_TRUE(network.ok()) << network.error();

  const auto expect_linear = [&](const Linear& linear, const std::string& source, uint32_t first_row) {
    const auto& w = weights.at(source + ".weight").values;
    for (uint32_t j = 0; j < linear.outputs; ++j) {
      const double scale = 32768.0 * double{linear.scale} / linear.column[j];
      for (uint32_t k = 0; k < linear.inputs; ++k) {
        const double x = (linear.panels[panel_index(j, k, linear.inputs)] - kWeightOffset) / scale;
        ASSERT_NEAR(x, w[(first_row + j) * linear.inputs + k], 0.15) << source << j << "," << k;
      }
      if (linear.bias == nullptr) continue;
      const auto& b = weights.at(source + ".bias").values;
      ASSERT_NEAR(linear.bias[j] / linear.bias_scale, b[first_row + j], 0.5 / linear.bias_scale * 1.001) << source;
    }
  };
  const uint32_t d = shape.width;
  expect_linear(network->embedding, "embedding", 0);
  EXPECT_EQ(network->embedding.bias, nullptr);
  expect_linear(network->encoder[1].self_attn.q, "encoder.1.self_attn.qkv", 0);
  expect_linear(network->encoder[1].self_attn.k, "encoder.1.self_attn.qkv", d);
  expect_linear(network->encoder[1].self_attn.v, "encoder.1.self_attn.qkv", 2 * d);
  expect_linear(network->decoder[0].cross_attn.q, "decoder.0.cross_attn.q", 0);
  expect_linear(network->decoder[0].cross_attn.k, "decoder.0.cross_attn.kv", 0);
  expect_linear(network->decoder[0].cross_attn.v, "decoder.0.cross_attn.kv", d);
  expect_linear(network->decoder[0].cross_attn.out, "decoder.0.cross_attn.out", 0);
  expect_linear(network->encoder[0].w1, "encoder.0.ffn.w1", 0);
  expect_linear(network->decoder[0].w2, "decoder.0.ffn.w2", 0);
  const Norm& norm = network->decoder[0].cross_norm;
  const std::vector<float>&g = weights.at("decoder.0.cross_norm.g").values,
        &b = weights.at("decoder.0.cross_norm.b").values;
  const std::vector<float>& delta = weights.at("encoder.0.self_attn.delta").values;
  for (uint32_t i = 0; i < d; ++i) EXPECT_NEAR(norm.gain[i] / norm.gain_scale, g[i], 1e-4);
  for (uint32_t i = 0; i < d; ++i) EXPECT_NEAR(norm.bias[i] / norm.bias_scale, b[i], 1e-4);
  for (uint32_t h = 0; h < shape.heads; ++h) EXPECT_EQ(network->encoder[0].self_attn.delta[h], std::abs(delta[h]));
  EXPECT_TRUE(std::any_of(delta.begin(), delta.end(), [](float x) { return x < 0; }));
  EXPECT_DOUBLE_EQ(network->rotation[0], std::cos(1.0));
  EXPECT_DOUBLE_EQ(network->rotation[2 * 8 + 1], std::sin(1 / std::pow(10000.0, 0.5)));
}

TEST(Quantizer, FloatFileHoldsTheWeights) {
  NetworkShape shape = small_shape();
  shape.attention = AttentionKind::kSoftmax;
  shape.norm = NormKind::kL2;
  const FloatWeights weights = random_weights(shape, 4);
  Result<AlignedBytes> bytes = make_model(Flavour::kFloat32, shape, weights, "{}", "v");
  ASSERT_TRUE(bytes.ok()) << bytes.error();
  const Result<ModelFile> model = ModelFile::open(std::move(*bytes));
  ASSERT_TRUE(model.ok()) << model.error();
  const Result<FloatNetwork> network = FloatNetwork::view(*model);
  ASSERT_TRUE(network.ok()) << network.error();
  const FloatLinear& k = network->encoder[0].self_attn.k;
  const std::vector<float>&w = weights.at("encoder.0.self_attn.qkv.weight").values,
        &b = weights.at("encoder.0.self_attn.qkv.bias").values;
  for (uint32_t j = 0; j < k.outputs; ++j) {
    EXPECT_EQ(k.bias[j], b[shape.width + j]);
    for (uint32_t i = 0; i < k.inputs; ++i) {
      EXPECT_EQ(k.panels[(j / 8 * k.inputs + i) * 8 + j % 8], w[(shape.width + j) * k.inputs + i]);
    }
  }
  EXPECT_EQ(std::memcmp(network->decoder_norm.g, weights.at("decoder_norm.g").values.data(), shape.width * 4), 0);
  EXPECT_FALSE(IntegerNetwork::view(*model).ok());
  EXPECT_TRUE(contains(make_model(Flavour::kInt8, shape, weights, "{}", "v").error(), "FP32 only"));
}

TEST(Quantizer, DecoderOnly) {
  NetworkShape shape = small_shape();
  shape.encoder_layers = 0;
  Result<AlignedBytes> bytes = make_model(Flavour::kInt8, shape, random_weights(shape, 5), "{}", "v");
  ASSERT_TRUE(bytes.ok()) << bytes.error();
  const Result<ModelFile> model = ModelFile::open(std::move(*bytes));
  ASSERT_TRUE(model.ok()) << model.error();
  const Result<IntegerNetwork> network = IntegerNetwork::view(*model);
  ASSERT_TRUE(network.ok()) << network.error();
  EXPECT_TRUE(network->encoder.empty());
  EXPECT_EQ(model->find("encoder_norm.g"), nullptr);
}

TEST(Quantizer, SameWeightsSameBytes) {
  const NetworkShape shape = small_shape();
  const Result<AlignedBytes> a = make_model(Flavour::kInt8, shape, random_weights(shape, 6), "{}", "v");
  const Result<AlignedBytes> b = make_model(Flavour::kInt8, shape, random_weights(shape, 6), "{}", "v");
  ASSERT_TRUE(a.ok() && b.ok());
  ASSERT_EQ(a->size(), b->size());
  EXPECT_EQ(std::memcmp(a->data(), b->data(), a->size()), 0);
}

TEST(Quantizer, WeightsThatDoNotFitAreNamed) {
  const NetworkShape shape = small_shape();
  const auto error_after = [&](auto change) {
    FloatWeights weights = random_weights(shape, 8);
    change(weights);
    const Result<AlignedBytes> made = make_model(Flavour::kInt8, shape, weights, "{}", "v");
    return made ? std::string() : made.error();
  };
  EXPECT_EQ(error_after([](FloatWeights&) {}), "");
  EXPECT_TRUE(
      contains(error_after([](FloatWeights& w) { w.erase("encoder_norm.g"); }), "lack the tensor encoder_norm.g"));
  EXPECT_TRUE(contains(error_after([](FloatWeights& w) { w["extra"]; }), "does not use: extra"));
  EXPECT_TRUE(contains(error_after([](FloatWeights& w) { w["encoder_norm.g"].shape = {31}; }), "(31)"));
  EXPECT_TRUE(contains(error_after([](FloatWeights& w) { w["encoder_norm.g"].values.pop_back(); }), "encoder_norm.g"));
  EXPECT_TRUE(
      contains(error_after([](FloatWeights& w) { w["embedding.weight"].shape = {32, 64}; }), "asks for (64, 32)"));
  for (const float bad : {std::nanf(""), INFINITY, -INFINITY, 1e35f}) {
    EXPECT_TRUE(contains(error_after([bad](FloatWeights& w) { w["decoder.0.ffn.w1.bias"].values[3] = bad; }),
                         "decoder.0.ffn.w1.bias"));
  }
  NetworkShape odd = shape;
  odd.width = 24;
  EXPECT_TRUE(contains(make_model(Flavour::kInt8, odd, random_weights(shape, 8), "{}", "v").error(), "width"));
}

// The promise about size, at the shape of a shipped model: a quarter of FP32 but for multipliers and header.
TEST(Quantizer, IntegerFileIsAQuarterOfFp32) {
  NetworkShape shape = small_shape();
  shape.vocabulary = 8000, shape.width = 256, shape.ffn = 1024, shape.heads = 8, shape.encoder_layers = 1;
  const Result<AlignedBytes> made = make_model(Flavour::kInt8, shape, random_weights(shape, 9), "{}", "");
  ASSERT_TRUE(made.ok());
  EXPECT_GE(static_cast<double>(float_bytes(shape)) / static_cast<double>(made->size()), 3.9);
}

}  // namespace
}  // namespace octavo
