// Between text and tokens: cutting what is too long for the model, and finding where in the text each piece stands.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"

namespace octavo {

// White space around a text, and what is inside it.
struct Trimmed {
  std::string_view before, text, after;
};
Trimmed trim(std::string_view text);

// Cuts tokens into runs of at most `limit`, each at the best boundary there is: after the end of a sentence, else after
// a semicolon or colon, a comma, a word; inside a word only if there is nothing else. Returns the end of each run.
std::vector<size_t> split_tokens(const Vocabulary& vocabulary, std::span<const int> tokens, size_t limit);

// Byte offset in `text` of each token, and of the end of the last: tokens.size() + 1 numbers that never decrease.
std::vector<uint32_t> token_offsets(const Vocabulary& vocabulary, std::string_view text, std::span<const int> tokens);

}  // namespace octavo
