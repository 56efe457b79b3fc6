// What BLEU and chrF have in common: text as Unicode characters, white space as Python defines it, matching n-grams.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace octavo {

// The characters of a text; a byte that is not part of valid UTF-8 becomes U+FFFD.
inline std::u32string decode_utf8(std::string_view text) {
  std::u32string characters;
  characters.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t length = lead < 0x80 ? 1 : lead >> 5 == 0x6 ? 2 : lead >> 4 == 0xE ? 3 : lead >> 3 == 0x1E ? 4 : 0;
    char32_t character = length == 1 ? lead : lead & (0x7Fu >> length);
    bool valid = length > 0 && i + length <= text.size();
    for (size_t k = 1; valid && k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      valid = next >> 6 == 0x2;
      character = character << 6 | (next & 0x3Fu);
    }
    constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
    valid =
        valid && character >= kSmallest[length] && character <= 0x10FFFF && (character < 0xD800 || character > 0xDFFF);
    characters.push_back(valid ? character : 0xFFFD);
    i += valid ? length : 1;
  }
  return characters;
}

// White space in the sense of Python's str.split() and str.strip().
constexpr bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

inline int64_t ngram_count(size_t length, size_t order) {
  return length < order ? 0 : static_cast<int64_t>(length - order + 1);
}

// How many n-grams of this order two sequences share, each
// counted as often as the sequence that has it less often does.
inline int64_t matching_ngrams(std::u32string_view a, std::u32string_view b, size_t order) {
  const auto sorted = [order](std::u32string_view sequence) {
    std::vector<std::u32string_view> ngrams;
    for (size_t i = 0; i + order <= sequence.size(); ++i) ngrams.push_back(sequence.substr(i, order));
    std::sort(ngrams.begin(), ngrams.end());
    return ngrams;
  };
  const auto left = sorted(a), right = sorted(b);
  int64_t matches = 0;
  for (size_t i = 0, j = 0; i < left.size() && j < right.size();) {
    const int order_of = left[i].compare(right[j]);
    if (order_of == 0) ++matches;
    if (order_of <= 0) ++i;
    if (order_of >= 0) ++j;
  }
  return matches;
}

}  // namespace octavo
