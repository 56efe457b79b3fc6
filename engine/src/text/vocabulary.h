// Text to pieces and back: a thin layer over sentencepiece.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace octavo {

// An immutable sentencepiece vocabulary (unigram or BPE). Safe to share between threads.
class Vocabulary {
 public:
  // Reads a serialised sentencepiece model. The bytes may come from anywhere: what is truncated,
  // inconsistent or unsafe is refused, and `error` then says why in one sentence.
  static std::optional<Vocabulary> load(std::string_view bytes, std::string& error);

  Vocabulary(Vocabulary&&) noexcept;
  Vocabulary& operator=(Vocabulary&&) noexcept;
  ~Vocabulary();

  // The pieces of a text, without begin and end marks. A byte that is not part of valid UTF-8
  // becomes U+FFFD. With byte fallback (see `has_byte_fallback`) no character is lost; without it,
  // rare ones become `unknown()`. `offsets`, unless null, gets where in the text each piece begins,
  // behind its space, and where the last one ends: numbers that never decrease.
  std::vector<int> encode(std::string_view utf8, std::vector<uint32_t>* offsets = nullptr) const;

  // The text that pieces stand for, always valid UTF-8. Control pieces are silent; an id outside
  // the vocabulary reads like the unknown piece. `offsets` as above.
  std::string decode(std::span<const int> ids, std::vector<uint32_t>* offsets = nullptr) const;

  int size() const;
  bool has_byte_fallback() const;

  // How a piece is written, U+2581 standing for a space; empty if there is no such id.
  std::string_view piece(int id) const;

  // The ids of the special pieces, or -1 where the vocabulary has none.
  int unknown() const;
  int begin_of_sentence() const;
  int end_of_sentence() const;
  int padding() const;

  // What no translation may contain, of a network that knows `rows` tokens: padding, the unknown piece, and ids that
  // are no pieces at all.
  std::vector<int> without_text(int rows) const;

 private:
  struct Parts;
  explicit Vocabulary(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace octavo
