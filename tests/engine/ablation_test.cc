#include "ablation.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "load_transformer.h"
#include "measurer.h"
#include "reference_transformer.h"
#include "tiny_model.h"

namespace octavo {
namespace {

std::shared_ptr<const ModelFile> tiny_file(Flavour flavour, const std::string& name) {
  Result<ModelFile> file = ModelFile::open(tiny_model(name, flavour));
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
  const auto int8 = tiny_file(Flavour::kInt8, "tiny"), fp32 = tiny_file(Flavour::kFloat32, "tiny");
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
                           "\n| paper, Emb |",
                           "\n| paper, Proj |",
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
  const auto int8 = tiny_file(Flavour::kInt8, "tiny"), fp32 = tiny_file(Flavour::kFloat32, "tiny");
  const auto lm8 = tiny_file(Flavour::kInt8, "tiny-lm"), lm32 = tiny_file(Flavour::kFloat32, "tiny-lm");
  EXPECT_TRUE(print({int8, int8, kSources, kReferences}).status.has_value());
  EXPECT_TRUE(print({fp32, int8, kSources, kReferences}).status.has_value());
  EXPECT_TRUE(print({int8, lm32, kSources, kReferences}).status.has_value());
  EXPECT_TRUE(print({lm8, lm32, kSources, kReferences}).status.has_value());
}

// The fast path and its specification measure the same in every respect.
TEST(Measurer, MeasuresTheSameForTheSameNetwork) {
  const auto int8 = tiny_file(Flavour::kInt8, "tiny");
  std::string why;
  std::optional<Vocabulary> vocabulary = Vocabulary::load(int8->vocabulary(), why);
  ASSERT_TRUE(vocabulary.has_value()) << why;
  const Measurer measurer(std::move(*vocabulary), int8->shape(), kSources, kReferences);
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
