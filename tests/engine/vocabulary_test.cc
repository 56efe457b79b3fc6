#include "text/vocabulary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>

namespace octavo {
namespace {

std::string read_data(const std::string& name) {
  std::ifstream file(std::string(OCTAVO_TEST_DATA "/") + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string reason_against(std::string_view bytes) {
  std::string error;
  return Vocabulary::load(bytes, error) ? "" : error;
}

// Serialises what a test wants a model to be, field by field.
std::string field(int id, std::string_view bytes) {
  std::string result{static_cast<char>(id << 3 | 2)};
  for (auto size = bytes.size(); true; size >>= 7) {
    result += static_cast<char>(size < 0x80 ? size : (size & 0x7F) | 0x80);
    if (size < 0x80) return result.append(bytes);
  }
}

std::string piece(std::string_view text, int type, std::string_view score = {"\0\0\0\0", 4}) {
  std::string message = field(1, text);
  message.append("\x15").append(score);               // field 2, four bytes
  message.append({'\x18', static_cast<char>(type)});  // field 3, a small number
  return field(1, message);
}

constexpr int kNormal = 1, kUnknown = 2, kUserDefined = 4;

class VocabularyTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    std::string error;
    vocabulary_ = Vocabulary::load(read_data(GetParam() + ".spm"), error);
    ASSERT_TRUE(vocabulary_) << error;
  }

  std::optional<Vocabulary> vocabulary_;
};

INSTANTIATE_TEST_SUITE_P(Kinds, VocabularyTest, testing::Values("tiny", "tiny-bpe"),
                         [](const auto& info) { return info.param == "tiny" ? "unigram" : "bpe"; });

TEST_P(VocabularyTest, KnowsItsSpecialPieces) {
  EXPECT_EQ(vocabulary_->size(), 400);
  EXPECT_TRUE(vocabulary_->has_byte_fallback());
  EXPECT_EQ(vocabulary_->unknown(), 0);
  EXPECT_EQ(vocabulary_->begin_of_sentence(), 1);
  EXPECT_EQ(vocabulary_->end_of_sentence(), 2);
  EXPECT_EQ(vocabulary_->padding(), 3);
  EXPECT_EQ(vocabulary_->piece(2), "</s>");
  EXPECT_EQ(vocabulary_->piece(-1), "");
  EXPECT_EQ(vocabulary_->piece(400), "");
}

// Each line has the ids that sentencepiece itself gives, and the text.
TEST_P(VocabularyTest, EncodesAsSentencepieceDoes) {
  std::istringstream lines(read_data(GetParam() + ".expected.tsv"));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const auto tab = line.find('\t');
    std::istringstream numbers(line.substr(0, tab));
    const std::vector<int> expected{std::istream_iterator<int>(numbers), {}};
    EXPECT_EQ(vocabulary_->encode(line.substr(tab + 1)), expected) << line;
  }
  EXPECT_EQ(count, 12);
}

TEST_P(VocabularyTest, LosesNoCharacter) {
  for (const std::string text : {"", "a", "Das Haus.", "漢字 😀 \u200d x", "<tag>", "1\u00bd"}) {
    EXPECT_EQ(vocabulary_->decode(vocabulary_->encode(text)), text);
  }
  std::string long_text;
  for (int i = 0; i < 20'000; ++i) long_text += "Haus 漢 ";
  long_text.pop_back();
  EXPECT_EQ(vocabulary_->decode(vocabulary_->encode(long_text)), long_text);
}

TEST_P(VocabularyTest, MarksWhatIsNotUtf8) {
  EXPECT_EQ(vocabulary_->decode(vocabulary_->encode("a\xff\xfe b")), "a\ufffd\ufffd b");
  EXPECT_EQ(vocabulary_->decode(vocabulary_->encode("end\xe6\xbc")), "end\ufffd\ufffd");
  EXPECT_EQ(vocabulary_->decode(vocabulary_->encode("\xed\xa0\x80")), "\ufffd\ufffd\ufffd");
  // Half a character in bytes: pieces that a model may well produce.
  auto ids = vocabulary_->encode("漢");
  ids.pop_back();
  EXPECT_EQ(vocabulary_->decode(ids), "\ufffd\ufffd");
}

// The end mark is among them, which search allows in any case.
TEST_P(VocabularyTest, KnowsWhatNoTranslationMayContain) {
  EXPECT_EQ(vocabulary_->without_text(400), (std::vector<int>{0, 2}));
  EXPECT_EQ(vocabulary_->without_text(402), (std::vector<int>{0, 2, 400, 401}));
}

// What lies between two offsets, white space aside, is what the piece between them says.
TEST_P(VocabularyTest, OffsetsPointAtThePieces) {
  for (const std::string text :
       {"The  house 漢 stands.", "Haus\u00a0und\u2009Hof 😀", " a ", "", "\xff b", "x\u2003"}) {
    std::vector<uint32_t> offsets;
    const auto ids = vocabulary_->encode(text, &offsets);
    ASSERT_EQ(offsets.size(), ids.size() + 1) << text;
    EXPECT_TRUE(std::ranges::is_sorted(offsets)) << text;
    EXPECT_LE(offsets.back(), text.size()) << text;
    for (size_t i = 0; i < ids.size(); ++i) {
      const std::string_view piece = vocabulary_->piece(ids[i]);
      const std::string letter(piece.substr(piece.find_last_of('\x81') + 1));  // behind U+2581
      if (letter.size() == 1) {
        EXPECT_EQ(text.substr(offsets[i], 1), letter) << text;
      }
    }
  }
}

TEST_P(VocabularyTest, OffsetsOfDecodedPiecesPointAtThem) {
  auto ids = vocabulary_->encode("漢 b");
  ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(ids.size()) - 2 - (vocabulary_->piece(ids.back()) == "b"));
  ids.insert(ids.begin(), vocabulary_->begin_of_sentence());  // silent
  std::vector<uint32_t> offsets;
  const std::string text = vocabulary_->decode(ids, &offsets);
  EXPECT_EQ(text, "\ufffd\ufffd b");  // two bytes of three
  ASSERT_EQ(offsets.size(), ids.size() + 1);
  EXPECT_EQ(offsets.front(), 0u);
  EXPECT_EQ(offsets[offsets.size() - 2], text.size() - 1);
  EXPECT_EQ(offsets.back(), text.size());
  EXPECT_TRUE(std::ranges::is_sorted(offsets));
}

TEST_P(VocabularyTest, DecodesIdsThatItDoesNotHaveAsUnknown) {
  const std::vector<int> ids{-1, 400, 1 << 30, 0};
  EXPECT_EQ(vocabulary_->decode(ids), " \u2047  \u2047  \u2047  \u2047 ");
}

// Cut between two fields, a file is just a smaller vocabulary; cut anywhere else, it is refused.
TEST_P(VocabularyTest, SurvivesTruncation) {
  const auto bytes = read_data(GetParam() + ".spm");
  int refused = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    std::string error;
    const auto shorter = Vocabulary::load(std::string_view(bytes).substr(0, size), error);
    if (shorter) shorter->decode(shorter->encode("Das kleine Haus"));
    refused += !shorter;
  }
  EXPECT_GT(refused, 6'000);
}

// A damaged file is refused, or still works on any text without reading or writing out of bounds.
TEST_P(VocabularyTest, SurvivesDamage) {
  const auto sound = read_data(GetParam() + ".spm");
  std::mt19937 random(1);
  for (int i = 0; i < 3'000; ++i) {
    auto bytes = sound;
    for (auto n = random() % 3; n < 3; ++n) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    std::string error;
    if (const auto vocabulary = Vocabulary::load(bytes, error)) {
      vocabulary->decode(vocabulary->encode("Das kleine Haus ﬁ \u00a0 \u3000 ＡＢ … <tag> 漢字 \xff"));
    } else {
      EXPECT_FALSE(error.empty());
    }
  }
}

TEST(VocabularyFile, SaysWhatIsWrong) {
  EXPECT_EQ(reason_against(""), "The vocabulary cannot be used: it has no pieces.");
  EXPECT_EQ(reason_against("plain text"),
            "The vocabulary cannot be used: it is truncated or not a sentencepiece model.");
  const auto unknown = piece("<unk>", kUnknown);
  EXPECT_EQ(reason_against(unknown + piece("a", kNormal)), "");
  EXPECT_NE(reason_against(piece("a", kNormal)).find("unk is not defined"), std::string::npos);
  for (const auto& hostile : {
           piece("", kNormal),                         // no text
           piece({"a\0b", 3}, kNormal),                // NUL, which the trie takes for the end
           piece("\xff", kNormal),                     // not UTF-8
           piece(std::string(600, 'a'), kNormal),      // overlong
           piece("b", 9),                              // unknown type
           piece("b", kNormal, "\xff\xff\xff\xff"),    // NaN
           piece("a", kNormal) + piece("a", kNormal),  // twice
       }) {
    EXPECT_NE(reason_against(unknown + hostile), "");
  }
}

TEST(VocabularyFile, ReplacesACharacterByAFewAtMost) {
  const auto with_replacement = [](size_t length) {
    const std::string trie(1024, '\0'), size{"\0\4\0\0", 4};
    return read_data("tiny.spm") + field(3, field(2, size + trie + std::string(length, 'x') + '\0'));
  };
  EXPECT_EQ(reason_against(with_replacement(64)), "");
  EXPECT_NE(reason_against(with_replacement(65)).find("character map"), std::string::npos);
}

// sentencepiece keeps the prefixes that match in an array of 64; more of them must do no harm.
TEST(VocabularyFile, MayHaveManyNestedSymbols) {
  std::string model = piece("<unk>", kUnknown) + piece("\u2581", kNormal);
  for (std::size_t n = 1; n <= 200; ++n) model += piece(std::string(n, 'a'), kUserDefined);
  std::string error;
  const auto vocabulary = Vocabulary::load(model, error);
  ASSERT_TRUE(vocabulary) << error;
  const std::string text(200, 'a');
  EXPECT_EQ(vocabulary->decode(vocabulary->encode(text)), text);
}

}  // namespace
}  // namespace octavo
