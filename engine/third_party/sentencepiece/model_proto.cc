// Reads and checks a serialised sentencepiece model (protobuf wire format), and decodes UTF-8.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "lean.h"
#include "sentencepiece_model.pb.h"

namespace sentencepiece {
namespace {

// Far above any real vocabulary, low enough that building its index can neither overflow nor take long.
constexpr std::size_t kMaxPieces = 1 << 18;
constexpr std::size_t kMaxPieceBytes = 512;

// No character becomes more than 18 others in Unicode (U+FDFA). A longer replacement would let
// a short text ask for any amount of time and memory.
constexpr std::size_t kMaxReplacementBytes = 64;

// One field of a protobuf message. Numbers are in `number`, strings and messages in `bytes`.
struct Field {
  std::uint32_t id = 0;
  std::uint64_t number = 0;
  std::string_view bytes;

  bool flag() const { return number != 0; }
  float real() const { return std::bit_cast<float>(static_cast<std::uint32_t>(number)); }
};

// Walks over a message's fields: `while (reader.next(field))`, then ask `ok()`.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }

  bool next(Field& field) {
    if (rest_.empty()) return false;
    field = {};
    const std::uint64_t tag = varint();
    field.id = static_cast<std::uint32_t>(tag >> 3);
    switch (tag & 7) {
      case 0:
        field.number = varint();
        break;
      case 1:
        field.number = fixed(8);
        break;
      case 2:
        field.bytes = take(varint());
        break;
      case 5:
        field.number = fixed(4);
        break;
      default:
        ok_ = false;
    }
    return ok_;
  }

 private:
  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) {
      ok_ = false;
      return {};
    }
    const auto taken = rest_.substr(0, static_cast<std::size_t>(size));
    rest_.remove_prefix(taken.size());
    return taken;
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = take(1);
      if (!ok_) return 0;
      value |= (static_cast<std::uint64_t>(byte[0]) & 0x7F) << shift;
      if ((byte[0] & 0x80) == 0) return value;
    }
    ok_ = false;
    return 0;
  }

  std::uint64_t fixed(std::size_t size) {
    std::uint64_t value = 0;
    const auto bytes = take(size);
    if (ok_) std::memcpy(&value, bytes.data(), size);
    return value;
  }

  std::string_view rest_;
  bool ok_ = true;
};

// A character map is {size of the trie, trie, replacements}. The trie is a double array: unit i's
// children are at i ^ offset(i) ^ byte, its value (if any) at i ^ offset(i), and each value points
// into the replacements, NUL-terminated strings. sentencepiece follows all of these unchecked.
bool is_safe_charsmap(std::string_view map) {
  if (map.empty()) return true;
  std::uint32_t trie_bytes = 0;
  if (map.size() < sizeof(trie_bytes)) return false;
  std::memcpy(&trie_bytes, map.data(), sizeof(trie_bytes));
  map.remove_prefix(sizeof(trie_bytes));
  if (trie_bytes == 0 || trie_bytes % 4 != 0 || trie_bytes >= map.size()) return false;
  const auto replacements = map.substr(trie_bytes);
  if (replacements.back() != '\0') return false;
  for (std::size_t start = 0, end = 0; start < replacements.size(); start = end + 1) {
    end = replacements.find('\0', start);
    if (end - start > kMaxReplacementBytes) return false;
  }

  const std::size_t units = trie_bytes / 4;
  const auto unit = [&](std::size_t index) {
    std::uint32_t value = 0;
    std::memcpy(&value, map.data() + index * 4, sizeof(value));
    return value;
  };
  for (std::size_t i = 0; i < units; ++i) {
    const std::uint32_t u = unit(i);
    const bool is_value = i != 0 && (u >> 31) != 0;  // unit 0 is the root, whatever it says
    if (is_value) continue;
    const std::size_t base = i ^ ((u >> 10) << ((u & (1u << 9)) >> 6));
    if ((base | 0xFF) >= units) return false;
    const bool has_value = ((u >> 8) & 1) != 0;
    if (has_value && (unit(base) & 0x7FFFFFFF) >= replacements.size()) return false;
  }
  return true;
}

bool is_utf8(std::string_view text) {
  for (std::size_t length = 0; !text.empty(); text.remove_prefix(length)) {
    if (!string_util::IsValidDecodeUTF8(text, &length)) return false;
  }
  return true;
}

}  // namespace

bool ModelProto::parse_piece(std::string_view bytes) {
  SentencePiece piece;
  Reader reader(bytes);
  for (Field field; reader.next(field);) {
    if (field.id == 1) piece.piece_ = field.bytes;
    if (field.id == 2) piece.score_ = field.real();
    if (field.id == 3) piece.type_ = static_cast<int>(field.number);
  }
  pieces_.push_back(std::move(piece));
  return reader.ok();
}

bool ModelProto::parse_trainer_spec(std::string_view bytes) {
  Reader reader(bytes);
  for (Field field; reader.next(field);) {
    switch (field.id) {
      case 3:
        trainer_spec_.model_type_ = static_cast<int>(field.number);
        break;
      case 24:
        trainer_spec_.treat_whitespace_as_suffix_ = field.flag();
        break;
      case 35:
        trainer_spec_.byte_fallback_ = field.flag();
        break;
      case 44:
        trainer_spec_.unk_surface_ = field.bytes;
        break;
      case 45:
        trainer_spec_.unk_piece_ = field.bytes;
        break;
      case 46:
        trainer_spec_.bos_piece_ = field.bytes;
        break;
      case 47:
        trainer_spec_.eos_piece_ = field.bytes;
        break;
      case 48:
        trainer_spec_.pad_piece_ = field.bytes;
        break;
      default:
        break;  // how the vocabulary was trained
    }
  }
  return reader.ok();
}

bool ModelProto::parse_normalizer_spec(std::string_view bytes, NormalizerSpec& spec) {
  Reader reader(bytes);
  for (Field field; reader.next(field);) {
    if (field.id == 2) spec.precompiled_charsmap_ = field.bytes;
    if (field.id == 3) spec.add_dummy_prefix_ = field.flag();
    if (field.id == 4) spec.remove_extra_whitespaces_ = field.flag();
    if (field.id == 5) spec.escape_whitespaces_ = field.flag();
  }
  return reader.ok();
}

std::string ModelProto::parse(std::string_view bytes) {
  Reader reader(bytes);
  NormalizerSpec denormalizer;
  bool parts_ok = true;
  for (Field field; reader.next(field) && parts_ok;) {
    if (field.id == 1) {
      if (pieces_.size() == kMaxPieces) return "it has too many pieces";
      parts_ok = parse_piece(field.bytes);
    }
    if (field.id == 2) parts_ok = parse_trainer_spec(field.bytes);
    if (field.id == 3) parts_ok = parse_normalizer_spec(field.bytes, normalizer_spec_);
    if (field.id == 5) parts_ok = parse_normalizer_spec(field.bytes, denormalizer);
  }
  if (!reader.ok() || !parts_ok) return "it is truncated or not a sentencepiece model";
  if (!denormalizer.precompiled_charsmap_.empty()) return "it rewrites decoded text, which is not supported";
  return check();
}

std::string ModelProto::check() const {
  if (pieces_.empty()) return "it has no pieces";
  for (const auto& piece : pieces_) {
    const bool sound = !piece.piece_.empty() && piece.piece_.size() <= kMaxPieceBytes &&
                       piece.piece_.find('\0') == std::string::npos && is_utf8(piece.piece_);
    if (!sound) return "it has an empty, overlong or malformed piece";
    if (!std::isfinite(piece.score_)) return "the score of piece " + piece.piece_ + " is not finite";
    if (piece.type_ < SentencePiece::NORMAL || piece.type_ > SentencePiece::BYTE) {
      return "piece " + piece.piece_ + " is of an unknown type";
    }
  }
  if (!is_utf8(trainer_spec_.unk_surface_)) return "its sign for unknown text is malformed";
  const bool known_type =
      trainer_spec_.model_type_ == TrainerSpec::UNIGRAM || trainer_spec_.model_type_ == TrainerSpec::BPE;
  if (!known_type) return "only unigram and BPE models are supported";
  if (!is_safe_charsmap(normalizer_spec_.precompiled_charsmap_)) return "its character map is broken";
  return "";
}

namespace string_util {

bool IsValidDecodeUTF8(std::string_view input, std::size_t* length) {
  *length = 1;
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(input[i])); };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return true;

  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || input.size() < size) return false;
  std::uint32_t code = first & (0x7F >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return false;
    code = code << 6 | (byte(i) & 0x3F);
  }
  const bool overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  if (overlong || surrogate || code > 0x10FFFF) return false;
  *length = size;
  return true;
}

}  // namespace string_util
}  // namespace sentencepiece
