#include "bleu.h"

#include <cmath>
#include <map>

#include "ngrams.h"

namespace octavo {
namespace {

constexpr bool is_digit(char32_t c) { return c >= U'0' && c <= U'9'; }
constexpr bool is_stop(char32_t c) { return c == U'.' || c == U','; }

// [\{-\~\[-\` -\&\(-\+\:-\@\/]: ASCII punctuation except apostrophe, comma, hyphen and full stop.
constexpr bool is_punctuation(char32_t c) {
  return (c >= U'{' && c <= U'~') || (c >= U'[' && c <= U'`') || (c >= U' ' && c <= U'&') || (c >= U'(' && c <= U'+') ||
         (c >= U':' && c <= U'@') || c == U'/';
}

void replace_all(std::u32string& text, std::u32string_view from, std::u32string_view to) {
  for (size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// What a regular expression of two characters does to a text: from left to right, each pair that matches is rewritten
// and never looked at again, so that the second character of a pair cannot be the first one of the next.
template <class First, class Second, class Rewrite>
std::u32string rewrite_pairs(std::u32string_view text, First first, Second second, Rewrite rewrite) {
  std::u32string out;
  out.reserve(text.size() + text.size() / 4);
  for (size_t i = 0; i < text.size(); ++i) {
    if (i + 1 < text.size() && first(text[i]) && second(text[i + 1])) {
      rewrite(out, text[i], text[i + 1]);
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

void space_after_first(std::u32string& out, char32_t a, char32_t b) { out.append({a, U' ', b, U' '}); }
void space_around_first(std::u32string& out, char32_t a, char32_t b) { out.append({U' ', a, U' ', b}); }

// The n-grams of words are found as n-grams of word numbers.
using Numbers = std::map<std::u32string, char32_t>;

std::u32string numbered(std::vector<std::u32string> words, Numbers& numbers) {
  std::u32string sequence;
  sequence.reserve(words.size());
  for (auto& word : words) {
    const auto next = static_cast<char32_t>(numbers.size());
    sequence += numbers.try_emplace(std::move(word), next).first->second;
  }
  return sequence;
}

}  // namespace

// The order of the rules is part of their meaning: each sees what the ones before it left.
std::vector<std::u32string> tokenize_13a(std::string_view sentence) {
  std::u32string text = decode_utf8(sentence);
  while (!text.empty() && is_space(text.back())) text.pop_back();

  replace_all(text, U"<skipped>", U"");
  replace_all(text, U"-\n", U"");
  replace_all(text, U"\n", U" ");
  replace_all(text, U"&quot;", U"\"");
  replace_all(text, U"&amp;", U"&");
  replace_all(text, U"&lt;", U"<");
  replace_all(text, U"&gt;", U">");

  std::u32string spaced = U" ";  // sentences begin and end with a space, so that every character has neighbours
  for (const char32_t c : text) {
    if (is_punctuation(c)) {
      spaced.append({U' ', c, U' '});
    } else {
      spaced += c;
    }
  }
  spaced += U' ';

  const auto no_digit = [](char32_t c) { return !is_digit(c); };
  const auto is_dash = [](char32_t c) { return c == U'-'; };
  spaced = rewrite_pairs(spaced, no_digit, is_stop, space_after_first);   // stops, unless a digit precedes
  spaced = rewrite_pairs(spaced, is_stop, no_digit, space_around_first);  // stops, unless a digit follows
  spaced = rewrite_pairs(spaced, is_digit, is_dash, space_after_first);   // dashes, if a digit precedes

  std::vector<std::u32string> tokens;
  bool inside = false;
  for (const char32_t c : spaced) {
    if (is_space(c)) {
      inside = false;
      continue;
    }
    if (!inside) tokens.emplace_back();
    tokens.back() += c;
    inside = true;
  }
  return tokens;
}

void Bleu::add(std::string_view hypothesis, std::string_view reference) {
  Numbers numbers;
  const std::u32string ours = numbered(tokenize_13a(hypothesis), numbers);
  const std::u32string theirs = numbered(tokenize_13a(reference), numbers);
  for (size_t i = 0; i < kBleuOrder; ++i) {
    matches_[i] += matching_ngrams(ours, theirs, i + 1);
    totals_[i] += ngram_count(ours.size(), i + 1);
  }
  hypothesis_length_ += static_cast<int64_t>(ours.size());
  reference_length_ += static_cast<int64_t>(theirs.size());
}

BleuScore Bleu::score() const {
  BleuScore score;
  score.hypothesis_length = hypothesis_length_;
  score.reference_length = reference_length_;
  if (hypothesis_length_ >= reference_length_) {
    score.brevity_penalty = 1;
  } else if (hypothesis_length_ > 0) {
    score.brevity_penalty =
        std::exp(1 - static_cast<double>(reference_length_) / static_cast<double>(hypothesis_length_));
  }
  if (matches_[0] == 0) return score;  // no word in common, hence no longer n-gram either

  double log_sum = 0;
  double smoothing = 1;
  for (size_t i = 0; i < kBleuOrder; ++i) {
    // Without effective order a corpus that has no n-grams of an order at all scores 0.
    if (totals_[i] == 0) return score;
    double matches = static_cast<double>(matches_[i]);
    if (matches_[i] == 0) matches = 1 / (smoothing *= 2);  // orders without a match count as 1/2, 1/4, ... of one
    score.precisions[i] = 100 * matches / static_cast<double>(totals_[i]);
    log_sum += std::log(score.precisions[i]);
  }
  score.bleu = score.brevity_penalty * std::exp(log_sum / kBleuOrder);
  return score;
}

}  // namespace octavo
