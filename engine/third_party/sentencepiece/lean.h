// A lean stand-in for three of sentencepiece's headers: common.h, util.h and sentencepiece_processor.h.
//
// Octavo compiles sentencepiece's normaliser and its unigram and BPE models from unchanged sources.
// Those three headers would bring iostreams, threads, random devices and protobuf along, some 200
// kB of WebAssembly that never runs. This header defines their include guards, so it has to come
// first (the build force-includes it), and declares just what the compiled sources use.
#pragma once

#define COMMON_H_
#define UTIL_H_
#define SENTENCEPIECE_PROCESSOR_H_

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "third_party/absl/strings/string_view.h"

using char32 = std::uint32_t;
using uint32 = std::uint32_t;

inline constexpr uint32 kUnicodeError = 0xFFFD;

namespace sentencepiece {

enum class EncoderVersion { kOptimized, kOriginal };

// Swallows what is streamed into it: errors reach the user as values, not as lines on stderr.
struct Discard {
  template <typename T>
  const Discard& operator<<(const T&) const {
    return *this;
  }
};

namespace util {

// Either fine, or an error with its reason.
class Status {
 public:
  Status() = default;
  explicit Status(std::string message) : failed_(true), message_(std::move(message)) {}
  bool ok() const { return !failed_; }
  const std::string& message() const { return message_; }
  void IgnoreError() const {}

 private:
  bool failed_ = false;
  std::string message_;
};

inline Status OkStatus() { return {}; }
inline Status InternalError(std::string_view message) { return Status(std::string(message)); }

// `return BrokenInvariant(...) << details;` yields an error whose text is the condition that failed.
struct BrokenInvariant {
  const char* condition;
  template <typename T>
  const BrokenInvariant& operator<<(const T&) const {
    return *this;
  }
  operator Status() const { return Status(condition); }
};

}  // namespace util

namespace string_util {

struct string_view_hash {
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

// The length that the first byte of a UTF-8 character promises.
inline std::size_t OneCharLen(const char* text) {
  return "\1\1\1\1\1\1\1\1\1\1\1\1\2\2\3\4"[static_cast<unsigned char>(*text) >> 4];
}

// Whether `input` (not empty) begins with a valid UTF-8 character; `length` is its size, or 1 if not.
bool IsValidDecodeUTF8(std::string_view input, std::size_t* length);

template <typename T>
bool DecodePOD(std::string_view bytes, T* value) {
  if (bytes.size() != sizeof(T)) return false;
  std::memcpy(value, bytes.data(), sizeof(T));
  return true;
}

template <typename T>
std::string EncodePOD(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(T));
}

}  // namespace string_util

namespace port {

template <typename Map>
bool InsertIfNotPresent(Map* map, const typename Map::key_type& key, const typename Map::mapped_type& value) {
  return map->emplace(key, value).second;
}

}  // namespace port

namespace random {

// Only sampling needs it, which Octavo never asks for.
inline std::mt19937* GetRandomGenerator() {
  static std::mt19937 generator;
  return &generator;
}

}  // namespace random
}  // namespace sentencepiece

#define LOG(severity) ::sentencepiece::Discard()
#define FRIEND_TEST(suite, name)

#define CHECK(condition) \
  if (!(condition)) std::abort()
#define CHECK_EQ(a, b) CHECK((a) == (b))
#define CHECK_GE(a, b) CHECK((a) >= (b))
#define CHECK_LT(a, b) CHECK((a) < (b))

#define RETURN_IF_ERROR(expression)                                       \
  do {                                                                    \
    if (const auto failure = (expression); !failure.ok()) return failure; \
  } while (false)

#define CHECK_OR_RETURN(condition)                                  \
  if (!(condition)) return ::sentencepiece::util::BrokenInvariant { \
      #condition                                                    \
    }
#define CHECK_EQ_OR_RETURN(a, b) CHECK_OR_RETURN((a) == (b))
#define CHECK_GE_OR_RETURN(a, b) CHECK_OR_RETURN((a) >= (b))
