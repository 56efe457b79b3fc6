#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

#include "model_file.h"
#include "octavo/translator.h"
#include "targets.h"

namespace octavo::fuzz {
namespace {

std::unique_ptr<Translator> load(std::string_view kernel) {
  std::ifstream file(OCTAVO_TEST_DATA "/version-1.octavo", std::ios::binary);
  const std::string content(std::istreambuf_iterator<char>(file), {});
  AlignedBytes bytes(content.size());
  std::copy_n(reinterpret_cast<const std::byte*>(content.data()), content.size(), bytes.data());
  auto translator = Translator::load(std::move(bytes), kernel);
  require(translator.ok(), "the tiny model loads");
  return std::move(*translator);
}

Options options_from(Reader& reader) {
  Options options;
  const bool sensible = reader.byte() % 4 != 0;
  if (sensible) {
    options.beam = reader.uniform(1, 4);
    options.alternatives = reader.uniform(1, options.beam);
    options.length_penalty = static_cast<float>(reader.uniform(0, 8)) / 4;
    options.max_length = reader.uniform(1, 12);  // short, so that many are tried
    options.loop_phrase = reader.uniform(0, kMaxLoopPhrase);
  } else {
    options.beam = reader.uniform(-3, 80);
    options.alternatives = reader.uniform(-3, 80);
    options.length_penalty = static_cast<float>(reader.uniform(-1000, 1000));
    options.max_length_factor = static_cast<float>(reader.uniform(-10, 10));
    options.max_length_extra = reader.uniform(-300, 300);
    options.max_length = reader.uniform(-300, 12);
    options.loop_phrase = reader.uniform(-20, 40);
    options.loop_token_repeats = reader.uniform(-2, 20);
    options.loop_phrase_repeats = reader.uniform(-2, 20);
  }
  options.scores = reader.byte() % 2 != 0;
  options.alignment = reader.byte() % 2 != 0;
  return options;
}

void check(const TranslatedSegment& segment, const std::string& source, const Options& options) {
  require(!segment.alternatives.empty() && segment.alternatives.size() <= static_cast<size_t>(options.beam),
          "between one and beam alternatives");
  for (const TranslatedText& text : segment.alternatives) {
    if (valid_utf8(source)) require(valid_utf8(text.text), "a translation is UTF-8");
    if (text.offsets.empty()) continue;
    require(text.offsets.back() <= text.text.size(), "offsets stay inside the translation");
    if (options.alignment) require(text.alignment.size() + 1 == text.offsets.size(), "each piece is aligned");
    for (const auto& row : text.alignment) require(row.size() == segment.source_tokens, "to the source's pieces");
  }
}

}  // namespace

void translate(Bytes data) {
  // The fuzzer of kernels compares each with the reference; here two quick ones leave time for more texts.
  static const std::unique_ptr<Translator> best = load({}), other = load("simd128");
  Reader reader(data);
  const Options options = options_from(reader);
  std::vector<std::string> segments;
  do {
    segments.push_back(reader.text(reader.uniform(0, 400)));
  } while (!reader.rest().empty() && segments.size() < 4);

  const auto together = best->translate(segments, options);
  if (!together) {
    require(check_options(options).has_value(), "only bad options are refused");
    return;
  }
  require(together->size() == segments.size(), "one result per segment");
  for (size_t i = 0; i < segments.size(); ++i) {
    check((*together)[i], segments[i], options);
    const auto alone = other->translate({segments[i]}, options);
    require(alone.ok(), "what works together works alone");
    require(alone->front().alternatives.front().text == (*together)[i].alternatives.front().text,
            "the same translation alone, by another kernel");
  }
}

}  // namespace octavo::fuzz
