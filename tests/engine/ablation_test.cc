#include "ablation.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "io.h"
#include "load_transformer.h"
#include "measurer.h"
#include "quantizer.h"
#include "reference_transformer.h"
#include "safetensors.h"

namespace octavo {
namespace {

constexpr NetworkShape kTiny = {400, 32, 64, 4, 2, 2, 3, AttentionKind::kPolynomial, NormKind::kL1, 128, 1};
constexpr NetworkShape kTinyLm = {400, 32, 64, 4, 0, 1, 3, AttentionKind::kPolynomial, NormKind::kL1, 128, 1};

std::string tiny_vocabulary() {
  const Result<std::string> bytes = read_text(OCTAVO_TEST_DATA "/tiny.spm");
  EXPECT_TRUE(bytes.ok()) << bytes.error();
  return *bytes;
}

std::shared_ptr<const ModelFile> tiny_file(Flavour flavour, const NetworkShape& shape, const std::string& name) {
  const Result<FloatWeights> weights = read_safetensors(OCTAVO_TEST_DATA "/" + name + ".safetensors");
  EXPECT_TRUE(weights.ok()) << weights.error();
  Result<AlignedBytes> bytes = make_model(flavour, shape, *weights, "{}", tiny_vocabulary());
  EXPECT_TRUE(bytes.ok()) << bytes.error();
  Result<ModelFile> file = ModelFile::open(std::move(*bytes));
  EXPECT_TRUE(file.ok()) << file.error();
  return std::make_shared<const ModelFile>(std::move(*file));
}

const std::vector<std::string> kSources = {"A house.", "",
                                           "Two dogs are running through the snow, and a third one sleeps."};
const std::vector<std::string> kReferences = {"Ein Haus.", "",
                                              "Zwei Hunde rennen durch den Schnee, und ein dritter schläft."};

struct Printed {
  Status status;
  std::string text;
};

Printed print(const AblationInput& input) {
  char* buffer = nullptr;
  size_t size = 0;
  std::FILE* out = open_memstream(&buffer, &size);
  Printed printed = {print_ablation(input, out), ""};
  std::fclose(out);
  printed.text.assign(buffer, size);
  std::free(buffer);
  return printed;
}

TEST(Ablation, PrintsEveryTable) {
  const auto int8 = tiny_file(Flavour::kInt8, kTiny, "tiny"), fp32 = tiny_file(Flavour::kFloat32, kTiny, "tiny");
  const Printed printed = print({int8, fp32, kSources, kReferences});
  ASSERT_FALSE(printed.status.has_value()) << printed.status->message;
  for (const char* part : {"n = 3",
                           "\n| FP32 |",
                           "\n| INT8 |",
                           "Storage: FP32 0.",
                           "\n| 6 |",
                           "\n| 10 |",
                           "\n| 8, weights 7 (shipped) |",
                           "\n| B |",
                           "\n| B × T |",
                           "\n| paper, a weight scale per matrix |",
                           "\n| fixed-point",
                           "\n| Emb |",
                           "\n| Attn |",
                           "\n| FFN |",
                           "\n| LN |",
                           "\n| Res |",
                           "\n| Proj |",
                           "\n| all |",
                           "Precision loss",
                           "\n| 2 |",
                           "\n| Out |"}) {
    EXPECT_NE(printed.text.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(printed.text.find("nan"), std::string::npos);
  EXPECT_EQ(printed.text.find("inf"), std::string::npos);
}

TEST(Ablation, RefusesModelsThatDoNotBelongTogether) {
  const auto int8 = tiny_file(Flavour::kInt8, kTiny, "tiny"), fp32 = tiny_file(Flavour::kFloat32, kTiny, "tiny");
  const auto lm8 = tiny_file(Flavour::kInt8, kTinyLm, "tiny-lm"),
             lm32 = tiny_file(Flavour::kFloat32, kTinyLm, "tiny-lm");
  EXPECT_TRUE(print({int8, int8, kSources, kReferences}).status.has_value());
  EXPECT_TRUE(print({fp32, int8, kSources, kReferences}).status.has_value());
  EXPECT_TRUE(print({int8, lm32, kSources, kReferences}).status.has_value());
  EXPECT_TRUE(print({lm8, lm32, kSources, kReferences}).status.has_value());
}

// The fast path and its specification measure the same in every respect.
TEST(Measurer, MeasuresTheSameForTheSameNetwork) {
  const auto int8 = tiny_file(Flavour::kInt8, kTiny, "tiny");
  std::string why;
  std::optional<Vocabulary> vocabulary = Vocabulary::load(int8->vocabulary(), why);
  ASSERT_TRUE(vocabulary.has_value()) << why;
  const Measurer measurer(std::move(*vocabulary), kTiny, kSources, kReferences);
  EXPECT_EQ(measurer.forced_sentences(), 3u);
  auto fast = load_transformer(int8);
  auto reference = ReferenceTransformer::create(int8, {});
  ASSERT_TRUE(fast.ok() && reference.ok());
  const Result<Measurement> a = measurer.measure(**fast), b = measurer.measure(**reference);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a->translations, b->translations);
  EXPECT_EQ(a->translations.size(), 3u);
  EXPECT_EQ(a->translations[1], "");
  EXPECT_EQ(a->best, b->best);
  EXPECT_EQ(a->cross_entropy, b->cross_entropy);
  EXPECT_EQ(a->bleu, b->bleu);
}

}  // namespace
}  // namespace octavo
