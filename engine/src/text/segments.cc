#include "text/segments.h"

#include <algorithm>

namespace octavo {
namespace {

constexpr std::string_view kSpaceMark = "\xe2\x96\x81";  // U+2581, how sentencepiece writes a space

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'; }

// A byte piece, <0x80> to <0xBF>, that goes on with a character of several bytes.
bool continues_character(std::string_view piece) {
  return piece.size() == 6 && piece.starts_with("<0x") && piece[3] >= '8' && piece[3] <= 'B';
}

// How good a cut between two pieces is.
int boundary(std::string_view before, std::string_view after) {
  if (!starts_with_space(after)) return continues_character(after) ? 0 : 1;
  const char last = before.empty() ? ' ' : before.back();
  if (last == '.' || last == '!' || last == '?') return 5;
  if (last == ';' || last == ':') return 4;
  return last == ',' ? 3 : 2;
}

}  // namespace

bool starts_with_space(std::string_view piece) { return piece.starts_with(kSpaceMark); }

Trimmed trim(std::string_view text) {
  size_t first = 0, last = text.size();
  while (first < last && is_space(text[first])) ++first;
  while (last > first && is_space(text[last - 1])) --last;
  return {text.substr(0, first), text.substr(first, last - first), text.substr(last)};
}

std::vector<size_t> split_tokens(const Vocabulary& vocabulary, std::span<const int> tokens, size_t limit) {
  std::vector<size_t> ends;
  size_t start = 0;
  while (tokens.size() - start > limit) {
    // Runs of nearly equal length translate better than a full one and a stub: aim at an even share, and accept the
    // best boundary between half of it and the limit, the nearest to the share among equals.
    const size_t left = tokens.size() - start, runs = (left + limit - 1) / limit, share = (left + runs - 1) / runs;
    size_t best = limit;
    int best_rank = -1;
    size_t best_distance = 0;
    for (size_t n = std::max<size_t>(1, share / 2); n <= limit; ++n) {
      const int rank = boundary(vocabulary.piece(tokens[start + n - 1]), vocabulary.piece(tokens[start + n]));
      const size_t distance = n > share ? n - share : share - n;
      if (rank > best_rank || (rank == best_rank && distance < best_distance)) {
        best = n, best_rank = rank, best_distance = distance;
      }
    }
    start += best;
    ends.push_back(start);
  }
  ends.push_back(tokens.size());
  return ends;
}

}  // namespace octavo
