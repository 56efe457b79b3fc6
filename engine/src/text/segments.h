// Between text and tokens: what surrounds a text, and cutting what is too long for the model.
#pragma once

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

// Whether there was a space before the piece, or it begins a text.
bool starts_with_space(std::string_view piece);

// Cuts tokens into runs of at most `limit`, each at the best boundary there is: after the end of a sentence, else after
// a semicolon or colon, a comma, a word; inside a word only if there is nothing else, and inside a character only if it
// is longer than a run. Returns the end of each run.
std::vector<size_t> split_tokens(const Vocabulary& vocabulary, std::span<const int> tokens, size_t limit);

}  // namespace octavo
