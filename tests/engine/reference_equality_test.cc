// The reference transformer against the fast path: the same bits from all kernels.
#include <gtest/gtest.h>

#include <algorithm>

#include "reference_harness.h"

namespace octavo {
namespace {

void expect_fast_equals_reference(const NetworkShape& shape, const FloatWeights& weights) {
  const auto file = make_file(Flavour::kInt8, shape, weights);
  const Batch batch = make_batch(shape, {1, 7, 2, 25, 12});
  const auto reference = make_reference(file);
  const Outcomes expected = outcomes(*reference, batch, in_order(5));
  for (const char* kernel : {"reference", "simd128", "relaxed", "fused"}) {
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
      {3, 1, 1, 32, 4, 48, 32},
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

// Numbers as large as a file may have, multiplied from layer to layer: the scales would come to 0.
TEST(ReferenceTransformer, EqualsTheFastPathWhereScalesWouldVanish) {
  const NetworkShape shape = Shape{3, 3, 3, 32, 4, 32, 48}.full();
  FloatWeights weights = random_weights(shape, 70);
  for (auto& [name, tensor] : weights) {
    for (float& value : tensor.values) value *= 1e8f;
  }
  expect_fast_equals_reference(shape, weights);
}

}  // namespace
}  // namespace octavo
