#include "octavo/options.h"

#include <string>

namespace octavo {

Status check_options(const Options& options) {
  const auto range = [](const char* field, const std::string& from, const std::string& to) {
    return Error{std::string("The option ") + field + " must be between " + from + " and " + to + "."};
  };
  if (options.beam < 1 || options.beam > kMaxBeam) return range("beam", "1", std::to_string(kMaxBeam));
  if (options.alternatives < 1 || options.alternatives > options.beam) return range("alternatives", "1", "beam");
  if (!(options.length_penalty >= 0 && options.length_penalty <= 4)) return range("length_penalty", "0", "4");
  if (!(options.max_length_factor >= 0 && options.max_length_factor <= 100))
    return range("max_length_factor", "0", "100");
  if (options.max_length_extra < 0 || options.max_length_extra > kMaxTargetLength) {
    return range("max_length_extra", "0", std::to_string(kMaxTargetLength));
  }
  if (options.max_length < 1 || options.max_length > kMaxTargetLength) {
    return range("max_length", "1", std::to_string(kMaxTargetLength));
  }
  if (options.loop_phrase < 0 || options.loop_phrase > kMaxLoopPhrase) {
    return range("loop_phrase", "0", std::to_string(kMaxLoopPhrase));
  }
  if (options.loop_token_repeats < 1 || options.loop_token_repeats > kMaxTargetLength) {
    return range("loop_token_repeats", "1", std::to_string(kMaxTargetLength));
  }
  if (options.loop_phrase_repeats < 1 || options.loop_phrase_repeats > kMaxTargetLength) {
    return range("loop_phrase_repeats", "1", std::to_string(kMaxTargetLength));
  }
  return std::nullopt;
}

}  // namespace octavo
