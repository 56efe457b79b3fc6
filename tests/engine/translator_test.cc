// Text in, text out, on the tiny model: what must hold whatever the words are.
#include "octavo/translator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "model_file.h"
#include "text/segments.h"
#include "text/vocabulary.h"
#include "tiny_model.h"

namespace octavo {
namespace {

std::unique_ptr<Translator> load(std::string_view kernel = {}, Flavour flavour = Flavour::kInt8) {
  auto translator = Translator::load(tiny_model("tiny", flavour), kernel);
  EXPECT_TRUE(translator.ok()) << translator.error();
  return std::move(*translator);
}

std::vector<std::string> sentences() {
  std::vector<std::string> texts = {
      "The house.",       "a",     "I see 42 trees & 7 birds!",
      "Straße – 漢字 😀", "x y z", "One. Two; three, four: five? Six! " + std::string(200, 'b')};
  std::mt19937 random(3);
  for (int n = 0; n < 58; ++n) {
    std::string text;
    for (int w = std::uniform_int_distribution<int>(1, 12)(random); w > 0; --w) {
      for (int c = std::uniform_int_distribution<int>(1, 7)(random); c > 0; --c) {
        text += static_cast<char>(std::uniform_int_distribution<int>('a', 'z')(random));
      }
      text += w > 1 ? " " : ".";
    }
    texts.push_back(text);
  }
  return texts;
}

std::vector<std::string> translate(Translator& translator, const std::vector<std::string>& texts,
                                   const Options& options = {}) {
  auto results = translator.translate(texts, options);
  EXPECT_TRUE(results.ok()) << results.error();
  std::vector<std::string> translations;
  for (const TranslatedSegment& segment : *results) translations.push_back(segment.alternatives.front().text);
  return translations;
}

class SameText : public testing::TestWithParam<const char*> {};

TEST_P(SameText, ForAnyBatchAndOrder) {
  const auto translator = load(GetParam());
  EXPECT_EQ(translator->info().kernel, GetParam());
  for (const int beam : {1, 4}) {
    auto texts = sentences();
    if (beam > 1) texts.resize(16);
    const Options options = {.beam = beam};
    // The specification: what the reference kernel makes of all at once.
    static std::map<int, std::vector<std::string>> specified;
    if (!specified.contains(beam)) specified[beam] = translate(*load("reference"), texts, options);
    const auto& expected = specified[beam];
    for (const size_t batch : {size_t{1}, size_t{7}, size_t{64}}) {
      std::vector<std::string> got;
      for (size_t i = 0; i < texts.size(); i += batch) {
        const auto end = texts.begin() + static_cast<std::ptrdiff_t>(std::min(texts.size(), i + batch));
        for (auto& text : translate(*translator, {texts.begin() + static_cast<std::ptrdiff_t>(i), end}, options)) {
          got.push_back(text);
        }
      }
      EXPECT_EQ(got, expected) << "batches of " << batch;
    }
    std::reverse(texts.begin(), texts.end());
    auto got = translate(*translator, texts, options);
    std::reverse(got.begin(), got.end());
    EXPECT_EQ(got, expected) << "reversed";
  }
}

INSTANTIATE_TEST_SUITE_P(Translator, SameText, testing::Values("reference", "simd128", "relaxed", "fused"),
                         [](const auto& kernel) { return std::string(kernel.param); });

TEST(Translator, BlankTextAndWhiteSpaceAroundTextStay) {
  const auto translator = load();
  EXPECT_EQ(translate(*translator, {"", "   ", "\n\t "}), (std::vector<std::string>{"", "   ", "\n\t "}));
  const auto plain = translate(*translator, {"The house."});
  EXPECT_EQ(translate(*translator, {"  The house.\n"}).front(), "  " + plain.front() + "\n");
}

TEST(Translator, LongTextIsSplitNotCut) {
  const auto translator = load();
  std::string text;
  for (int i = 0; i < 40; ++i) text += "The house is small, and the tree is tall. ";
  ASSERT_GT(translator->count_tokens(text), translator->max_tokens());
  const auto results = translator->translate({text}, {.scores = true, .alignment = true});
  ASSERT_TRUE(results.ok()) << results.error();
  const TranslatedSegment& segment = results->front();
  EXPECT_EQ(segment.source_tokens, translator->count_tokens(text));
  EXPECT_EQ(segment.source_offsets.size(), segment.source_tokens + 1);
  const TranslatedText& best = segment.alternatives.front();
  EXPECT_EQ(best.offsets.size(), best.token_scores.size() + 1);
  EXPECT_EQ(best.alignment.size(), best.token_scores.size());
  EXPECT_TRUE(std::is_sorted(best.offsets.begin(), best.offsets.end()));
  for (size_t i = 0; i < best.alignment.size(); ++i) EXPECT_LE(best.alignment[i].size(), segment.source_tokens);
}

TEST(Translator, AlignmentsHaveABound) {
  const auto translator = load();
  std::string text;
  while (translator->count_tokens(text) <= 2048) text += "A word after another, and so on and on without an end; ";
  EXPECT_TRUE(translator->start({text}, {}).ok());
  const auto refused = translator->start({text}, {.alignment = true});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().find("too long to be aligned"), std::string::npos);
}

TEST(Translator, InvalidUtf8AndHugeTextGiveAResult) {
  const auto translator = load();
  for (const std::string& text : {std::string("\xff\xfe\xc0 abc"), std::string(3, '\0'), std::string("\xf0\x9f\x98"),
                                  std::string(20000, 'a'), std::string(3000, ' ') + "x"}) {
    const auto results = translator->translate({text}, {});
    ASSERT_TRUE(results.ok()) << results.error();
    EXPECT_FALSE(results->front().alternatives.empty());
  }
}

TEST(Translator, BadOptionsAndModelsAreRefusedWithAReason) {
  const auto translator = load();
  const auto results = translator->translate({"a"}, {.beam = 0});
  ASSERT_FALSE(results.ok());
  EXPECT_NE(results.error().find("beam"), std::string::npos) << results.error();
  EXPECT_FALSE(Translator::load(AlignedBytes(10)).ok());
  EXPECT_FALSE(Translator::load(tiny_model("tiny", Flavour::kInt8), "avx9000").ok());
  const auto language_model = Translator::load(tiny_model("tiny-lm", Flavour::kInt8));
  ASSERT_FALSE(language_model.ok());
  EXPECT_NE(language_model.error().find("language model"), std::string::npos);
}

TEST(Translator, OffsetsPointIntoTheTextAroundItsWhiteSpace) {
  const auto translator = load();
  const std::string text = "  The house\u00a0is small. ";  // the vocabulary makes one byte of the two
  const auto results = translator->translate({text}, {.alignment = true});
  ASSERT_TRUE(results.ok()) << results.error();
  const std::vector<uint32_t>& offsets = results->front().source_offsets;
  ASSERT_EQ(offsets.size(), results->front().source_tokens + 1);
  EXPECT_EQ(offsets.front(), 2u);
  EXPECT_EQ(offsets.back(), text.size() - 1);
  const TranslatedText& best = results->front().alternatives.front();
  EXPECT_EQ(best.offsets.size(), best.alignment.size() + 1);
  EXPECT_EQ(best.offsets.back(), best.text.size() - 1);
}

TEST(Translator, CancelledBetweenSteps) {
  const auto translator = load();
  int asked = 0;
  Options options;
  options.cancel_context = &asked;
  options.cancelled = [](void* context) { return ++*static_cast<int*>(context) > 3; };
  const auto results = translator->translate(sentences(), options);
  ASSERT_FALSE(results.ok());
  EXPECT_EQ(results.error(), kCancelled);
  EXPECT_EQ(asked, 4);
  EXPECT_FALSE(translate(*translator, {"The house."}).front().empty());  // and it still works
}

TEST(Translator, WorksOnOneJobAtATime) {
  const auto translator = load();
  const auto texts = sentences();
  const auto expected = translate(*translator, texts);
  auto first = translator->start(texts, {});
  ASSERT_TRUE(first.ok() && (*first)->advance().ok());
  auto second = translator->start({"a"}, {});
  ASSERT_TRUE(second.ok());
  EXPECT_FALSE((*second)->advance().ok());
  EXPECT_FALSE(translator->inspect("a").ok());
  while (*(*first)->advance()) {
  }
  const auto results = (*first)->finish();
  for (size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(results[i].alternatives.front().text, expected[i]);

  auto dropped = translator->start(texts, {});
  ASSERT_TRUE(dropped.ok() && (*dropped)->advance().ok());
  dropped->reset();
  EXPECT_TRUE((*second)->advance().ok());
}

TEST(Translator, NeverProducesUnknownPieces) {
  const auto translator = load();
  for (const std::string& text : sentences()) {
    const auto seen = translator->inspect(text);
    if (!seen) continue;  // too long
    for (const std::string& piece : seen->target) EXPECT_NE(piece, "<unk>") << text;
  }
}

TEST(Translator, AlternativesAreSortedAndDistinct) {
  const auto translator = load();
  const auto results = translator->translate({"The house is small."}, {.beam = 4, .alternatives = 4});
  ASSERT_TRUE(results.ok()) << results.error();
  const auto& alternatives = results->front().alternatives;
  ASSERT_EQ(alternatives.size(), 4u);
  for (size_t i = 1; i < alternatives.size(); ++i) EXPECT_LE(alternatives[i].score, alternatives[i - 1].score);
}

TEST(Segments, SplitAtTheBestBoundary) {
  std::string error;
  const auto vocabulary = Vocabulary::load(read_test_data("tiny.spm"), error);
  ASSERT_TRUE(vocabulary.has_value()) << error;
  const std::string text = "one two three. four five, six seven eight nine ten";
  const auto tokens = vocabulary->encode(text);
  const auto ends = split_tokens(*vocabulary, tokens, tokens.size() - 2);
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_EQ(vocabulary->decode(std::span(tokens).first(ends[0])), "one two three.");
  EXPECT_EQ(ends.back(), tokens.size());
  // A word of 50 letters offers no boundary: it is cut all the same, and nothing is lost.
  const auto letters = vocabulary->encode(std::string(50, 'q'));
  size_t start = 0;
  for (const size_t end : split_tokens(*vocabulary, letters, 7)) {
    EXPECT_LE(end - start, 7u);
    EXPECT_GT(end, start);
    start = end;
  }
  EXPECT_EQ(start, letters.size());
}

// Characters that the vocabulary spells in bytes stay whole.
TEST(Segments, SplitBetweenCharacters) {
  std::string error;
  const auto vocabulary = Vocabulary::load(read_test_data("tiny.spm"), error);
  ASSERT_TRUE(vocabulary.has_value()) << error;
  std::string text;
  for (int i = 0; i < 40; ++i) text += i % 2 == 0 ? "漢" : "😀";
  const auto tokens = vocabulary->encode(text);
  ASSERT_GE(tokens.size(), 40u * 3);
  std::string joined;
  size_t start = 0;
  for (const size_t end : split_tokens(*vocabulary, tokens, 9)) {
    const std::string part = vocabulary->decode(std::span(tokens).subspan(start, end - start));
    EXPECT_EQ(part.find("\xef\xbf\xbd"), std::string::npos) << part;  // U+FFFD
    joined += part;
    start = end;
  }
  EXPECT_EQ(joined, text);
}

// The oldest format, as a file of its time: it loads for ever and translates as it did.
TEST(Translator, VersionOneFilesLoadAndTranslateAsEver) {
  const std::string file = read_test_data("version-1.octavo");
  AlignedBytes bytes(file.size());
  std::copy_n(reinterpret_cast<const std::byte*>(file.data()), file.size(), bytes.data());
  auto translator = Translator::load(std::move(bytes));
  ASSERT_TRUE(translator.ok()) << translator.error();
  std::string all;
  for (const std::string& text : translate(**translator, sentences())) all += text + "\n";
  EXPECT_EQ(crc32(std::as_bytes(std::span(all))), 2040338400u);
}

TEST(Translator, InspectionShowsEveryStationAndHead) {
  const auto translator = load();
  const std::string sentence = "I see 42 trees & 7 birds!";
  const std::string before = translate(*translator, {sentence}).front();
  const auto seen = translator->inspect(sentence + " \n");
  ASSERT_TRUE(seen.ok()) << seen.error();
  const size_t source = seen->source.size(), target = seen->target.size();
  EXPECT_EQ(source, translator->count_tokens(sentence) + 1);
  const TranslatedText expected = translator->translate({sentence}, {.scores = true})->front().alternatives.front();
  EXPECT_EQ(target, expected.token_scores.size() + (expected.length_limited ? 0 : 1));

  const auto file = ModelFile::open(tiny_model("tiny", Flavour::kInt8));
  const NetworkShape& shape = file->shape();
  ASSERT_EQ(seen->stations.size(), 2 + 2 * shape.encoder_layers + 2 + 3 * shape.decoder_layers);
  EXPECT_STREQ(seen->stations.front().name, "embedding");
  EXPECT_STREQ(seen->stations.back().name, "norm");
  for (const Station& station : seen->stations) {
    EXPECT_EQ(station.scales.size(), station.decoder ? target : source) << station.name << station.layer;
    for (const float scale : station.scales) EXPECT_GT(scale, 0);
  }
  ASSERT_EQ(seen->attention.size(), static_cast<size_t>(shape.decoder_layers) * shape.heads);
  for (const AttentionHead& head : seen->attention) {
    ASSERT_EQ(head.weights.size(), target * source);
    for (size_t t = 0; t < target; ++t) {
      const auto row = head.weights.begin() + static_cast<std::ptrdiff_t>(t * source);
      EXPECT_GE(*std::min_element(row, row + static_cast<std::ptrdiff_t>(source)), 0);
      EXPECT_GT(*std::max_element(row, row + static_cast<std::ptrdiff_t>(source)), 0);
    }
  }
  EXPECT_EQ(translate(*translator, {sentence}).front(), before) << "watching leaves no trace";
}

TEST(Translator, InspectionReadsATranslationAsIfItWereItsOwn) {
  const auto translator = load();
  size_t compared = 0;
  for (const std::string& sentence : sentences()) {
    const auto seen = translator->inspect(sentence);
    const auto read = translator->inspect(sentence, translate(*translator, {sentence}).front());
    if (!seen.ok() || !read.ok()) continue;  // blank or too long
    // The same words may be other pieces; as far as they are the same they have seen the same.
    const auto differ =
        std::mismatch(seen->target.begin(), seen->target.end(), read->target.begin(), read->target.end());
    const auto common = differ.first - seen->target.begin();
    compared += common;
    for (size_t i = 0; i < seen->stations.size(); ++i) {
      const Station &own = seen->stations[i], &other = read->stations[i];
      ASSERT_EQ(other.scales.size(), other.decoder ? read->target.size() : read->source.size());
      const auto rows = own.decoder ? common : static_cast<std::ptrdiff_t>(own.scales.size());
      EXPECT_TRUE(std::equal(own.scales.begin(), own.scales.begin() + rows, other.scales.begin())) << own.name;
    }
  }
  EXPECT_GT(compared, 0u);
  EXPECT_EQ(translator->inspect("a", "1 2 3")->target.size(), translator->count_tokens("1 2 3") + 1);
  EXPECT_FALSE(translator->inspect("a", std::string(5000, 'x')).ok());
}

TEST(Translator, InspectionRefusesWhatItCannotShow) {
  EXPECT_FALSE(load()->inspect(" \n").ok());
  EXPECT_FALSE(load()->inspect(std::string(5000, 'x')).ok());
  EXPECT_FALSE(load({}, Flavour::kFloat32)->inspect("a").ok());
}

}  // namespace
}  // namespace octavo
