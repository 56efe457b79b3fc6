#include "text/vocabulary.h"

#include <algorithm>

// Must precede sentencepiece's own headers: it stands in for some of them.
#include "lean.h"

#include "bpe_model.h"
#include "normalizer.h"
#include "sentencepiece_model.pb.h"
#include "unigram_model.h"

namespace octavo {
namespace {

constexpr std::string_view kSpace = "\xe2\x96\x81";        // U+2581 stands for a space within pieces
constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD stands for what is not UTF-8

void append_with_spaces(std::string& text, std::string_view piece) {
  while (!piece.empty()) {
    const auto symbol = piece.find(kSpace);
    text += piece.substr(0, symbol);
    if (symbol == std::string_view::npos) return;
    text += ' ';
    piece.remove_prefix(symbol + kSpace.size());
  }
}

// Appends bytes, whatever is not valid UTF-8 as U+FFFD, and empties them. Each adds its place to `offsets`.
void flush_as_utf8(std::string& text, std::string& bytes, std::vector<uint32_t>& offsets) {
  std::string_view rest = bytes;
  while (!rest.empty()) {
    std::size_t length = 0;
    const bool valid = sentencepiece::string_util::IsValidDecodeUTF8(rest, &length);
    for (std::size_t i = 0; i < length; ++i) offsets.push_back(static_cast<uint32_t>(text.size() + i));
    text += valid ? rest.substr(0, length) : kReplacement;
    rest.remove_prefix(length);
  }
  bytes.clear();
}

// The bytes of a piece's leading spaces.
std::size_t leading_spaces(std::string_view piece) {
  std::size_t bytes = 0;
  while (piece.substr(bytes).starts_with(kSpace)) bytes += kSpace.size();
  return bytes;
}

}  // namespace

// The model and the normaliser keep pointers into `proto`, so all of them stay where they are.
struct Vocabulary::Parts {
  sentencepiece::ModelProto proto;
  std::unique_ptr<sentencepiece::ModelInterface> model;
  std::unique_ptr<sentencepiece::normalizer::Normalizer> normalizer;

  int id_of(std::string_view piece, int type) const {
    const int id = model->PieceToId(piece);
    return proto.pieces(id).type() == type ? id : -1;
  }
};

Vocabulary::Vocabulary(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Vocabulary::Vocabulary(Vocabulary&&) noexcept = default;
Vocabulary& Vocabulary::operator=(Vocabulary&&) noexcept = default;
Vocabulary::~Vocabulary() = default;

std::optional<Vocabulary> Vocabulary::load(std::string_view bytes, std::string& error) {
  const auto refuse = [&](const std::string& reason) {
    error = "The vocabulary cannot be used: " + reason + ".";
    return std::nullopt;
  };

  auto parts = std::make_unique<Parts>();
  if (const auto reason = parts->proto.parse(bytes); !reason.empty()) return refuse(reason);

  if (parts->proto.trainer_spec().model_type() == sentencepiece::TrainerSpec::BPE) {
    parts->model = std::make_unique<sentencepiece::bpe::Model>(parts->proto);
  } else {
    parts->model = std::make_unique<sentencepiece::unigram::Model>(parts->proto);
  }
  if (!parts->model->status().ok()) return refuse(parts->model->status().message());

  parts->normalizer = std::make_unique<sentencepiece::normalizer::Normalizer>(parts->proto.normalizer_spec(),
                                                                              parts->proto.trainer_spec());
  parts->normalizer->SetPrefixMatcher(parts->model->prefix_matcher());
  return Vocabulary(std::move(parts));
}

std::vector<int> Vocabulary::encode(std::string_view utf8, std::vector<uint32_t>* offsets) const {
  const auto& model = *parts_->model;
  std::string normalized;
  std::vector<std::size_t> origins;  // where in `utf8` each byte of `normalized`, and its end, comes from
  parts_->normalizer->Normalize(utf8, &normalized, &origins).IgnoreError();  // a sound model never fails
  if (offsets != nullptr) offsets->clear();

  std::vector<int> ids;
  const auto add = [&](int id, std::size_t origin) {
    ids.push_back(id);
    if (offsets != nullptr) offsets->push_back(static_cast<uint32_t>(origin));
  };
  bool after_unknown = false;
  for (const auto& [text, id] : model.Encode(normalized)) {
    const auto begin = static_cast<std::size_t>(text.data() - normalized.data());
    const bool unknown = model.IsUnknown(id);
    if (unknown && model.ByteFallbackEnabled()) {
      for (std::size_t i = 0; i < text.size(); ++i) {
        const int byte = model.PieceToId(sentencepiece::ByteToPiece(static_cast<unsigned char>(text[i])));
        // All bytes of a character come from where it begins, which may have been a shorter one.
        add(byte, std::min(origins[begin] + i, origins[begin + text.size()]));
      }
    } else if (!(unknown && after_unknown)) {  // as in sentencepiece, a run of unknowns is one piece
      add(id, origins[begin + leading_spaces(text)]);
    }
    after_unknown = unknown;
  }
  if (offsets != nullptr) offsets->push_back(static_cast<uint32_t>(origins.empty() ? 0 : origins.back()));
  return ids;
}

std::string Vocabulary::decode(std::span<const int> ids, std::vector<uint32_t>* offsets) const {
  const auto& normalizer_spec = parts_->proto.normalizer_spec();
  const bool strips_all_leading = normalizer_spec.remove_extra_whitespaces();
  const bool strips_leading = strips_all_leading || normalizer_spec.add_dummy_prefix();
  bool at_start = true;

  std::string text;
  std::string bytes;  // of byte pieces, which make characters only together
  std::vector<uint32_t> places;
  for (const int id : ids) {
    const bool known = id >= 0 && id < size() && !parts_->model->IsUnknown(id);
    if (known && parts_->model->IsByte(id)) {
      bytes += static_cast<char>(sentencepiece::PieceToByte(piece(id)));
      continue;
    }
    flush_as_utf8(text, bytes, places);
    at_start = at_start && text.empty();
    std::string_view written;
    if (!known) {
      written = parts_->proto.trainer_spec().unk_surface();
    } else if (!parts_->model->IsControl(id)) {
      written = piece(id);
      if (at_start && strips_leading && written.starts_with(kSpace)) {
        written.remove_prefix(kSpace.size());
        at_start = strips_all_leading;
      }
    }
    places.push_back(static_cast<uint32_t>(text.size() + leading_spaces(written) / kSpace.size()));
    append_with_spaces(text, written);
  }
  flush_as_utf8(text, bytes, places);
  places.push_back(static_cast<uint32_t>(text.size()));
  if (offsets != nullptr) *offsets = std::move(places);
  return text;
}

int Vocabulary::size() const { return parts_->proto.pieces_size(); }

bool Vocabulary::has_byte_fallback() const { return parts_->model->ByteFallbackEnabled(); }

std::string_view Vocabulary::piece(int id) const {
  if (id < 0 || id >= size()) return {};
  return parts_->model->IdToPiece(id);
}

using Type = sentencepiece::ModelProto::SentencePiece;

int Vocabulary::unknown() const { return parts_->id_of(parts_->model->unk_piece(), Type::UNKNOWN); }
int Vocabulary::begin_of_sentence() const { return parts_->id_of(parts_->model->bos_piece(), Type::CONTROL); }
int Vocabulary::end_of_sentence() const { return parts_->id_of(parts_->model->eos_piece(), Type::CONTROL); }
int Vocabulary::padding() const { return parts_->id_of(parts_->model->pad_piece(), Type::CONTROL); }

std::vector<int> Vocabulary::without_text(int rows) const {
  std::vector<int> ids;
  // Our vocabularies keep padding at 0 and the unknown piece at 2; others may have anything there. (Other control
  // pieces are silent. They may come, as they could when the first models were made.)
  for (const int id : {0, 2}) {
    if (id < size() && (parts_->model->IsControl(id) || parts_->model->IsUnknown(id))) ids.push_back(id);
  }
  if (const int id = unknown(); id >= 0 && id != 0 && id != 2) ids.push_back(id);
  for (int id = size(); id < rows; ++id) ids.push_back(id);
  return ids;
}

}  // namespace octavo
