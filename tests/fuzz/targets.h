// What the fuzzers try: each target takes arbitrary bytes and aborts if something that must hold does not.
//
// The same functions are fuzzed by libFuzzer (`npm run fuzz`) and run over the checked-in corpus by the engine's tests.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

namespace octavo::fuzz {

using Bytes = std::span<const uint8_t>;
using Target = void (*)(Bytes);

void model_file(Bytes data);  // a hostile model file: opened as it is, and with its header and checksum mended
void vocabulary(Bytes data);  // a hostile sentencepiece model, and a text
void translate(Bytes data);   // hostile text and options, on the tiny model
void kernels(Bytes data);     // every kernel against the reference

struct Named {
  const char* name;
  Target target;
};
constexpr Named kTargets[] = {
    {"model_file", model_file}, {"vocabulary", vocabulary}, {"translate", translate}, {"kernels", kernels}};

// Unlike assert, also in release builds.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

// Reads numbers off the front of the bytes; after the end everything is zero.
class Reader {
 public:
  explicit Reader(Bytes data) : rest_(data) {}
  uint8_t byte() {
    if (rest_.empty()) return 0;
    const uint8_t first = rest_.front();
    rest_ = rest_.subspan(1);
    return first;
  }
  // Some number in low..high.
  int uniform(int low, int high) {
    const uint32_t range = static_cast<uint32_t>(high) - static_cast<uint32_t>(low) + 1;
    uint32_t number = byte();
    for (uint32_t reach = 256; range > reach && reach != 0; reach <<= 8) number = number << 8 | byte();
    return static_cast<int>(static_cast<uint32_t>(low) + (range == 0 ? number : number % range));
  }
  std::string text(size_t length) {
    const Bytes taken = rest_.first(length < rest_.size() ? length : rest_.size());
    rest_ = rest_.subspan(taken.size());
    return {taken.begin(), taken.end()};
  }
  Bytes rest() const { return rest_; }

 private:
  Bytes rest_;
};

// Whether it is UTF-8 without surrogates and overlong forms.
bool valid_utf8(const std::string& text);

}  // namespace octavo::fuzz
