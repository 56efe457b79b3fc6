// What sentencepiece's ModelProto holds, as plain data instead of protobuf classes.
//
// Only the fields that encoding and decoding read are kept; the rest of the file is skipped. The
// accessors have the names that protobuf would generate, because sentencepiece's sources call them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sentencepiece {

class TrainerSpec {
 public:
  enum ModelType { UNIGRAM = 1, BPE = 2, WORD = 3, CHAR = 4 };

  int model_type() const { return model_type_; }
  bool treat_whitespace_as_suffix() const { return treat_whitespace_as_suffix_; }
  bool byte_fallback() const { return byte_fallback_; }
  const std::string& unk_piece() const { return unk_piece_; }
  const std::string& bos_piece() const { return bos_piece_; }
  const std::string& eos_piece() const { return eos_piece_; }
  const std::string& pad_piece() const { return pad_piece_; }
  const std::string& unk_surface() const { return unk_surface_; }

 private:
  friend class ModelProto;

  int model_type_ = UNIGRAM;
  bool treat_whitespace_as_suffix_ = false;
  bool byte_fallback_ = false;
  std::string unk_piece_ = "<unk>";
  std::string bos_piece_ = "<s>";
  std::string eos_piece_ = "</s>";
  std::string pad_piece_ = "<pad>";
  std::string unk_surface_ = " \xE2\x81\x87 ";
};

class NormalizerSpec {
 public:
  const std::string& precompiled_charsmap() const { return precompiled_charsmap_; }
  bool add_dummy_prefix() const { return add_dummy_prefix_; }
  bool remove_extra_whitespaces() const { return remove_extra_whitespaces_; }
  bool escape_whitespaces() const { return escape_whitespaces_; }

 private:
  friend class ModelProto;

  std::string precompiled_charsmap_;
  bool add_dummy_prefix_ = true;
  bool remove_extra_whitespaces_ = true;
  bool escape_whitespaces_ = true;
};

class ModelProto {
 public:
  class SentencePiece {
   public:
    enum Type { NORMAL = 1, UNKNOWN = 2, CONTROL = 3, USER_DEFINED = 4, UNUSED = 5, BYTE = 6 };

    const std::string& piece() const { return piece_; }
    float score() const { return score_; }
    int type() const { return type_; }

   private:
    friend class ModelProto;

    std::string piece_;
    float score_ = 0;
    int type_ = NORMAL;
  };

  // Reads a serialised model. Returns an empty string, or what is wrong with it: every length and
  // offset that sentencepiece would later follow without looking is checked here.
  std::string parse(std::string_view bytes);

  const std::vector<SentencePiece>& pieces() const { return pieces_; }
  const SentencePiece& pieces(int id) const { return pieces_[static_cast<std::size_t>(id)]; }
  int pieces_size() const { return static_cast<int>(pieces_.size()); }
  const TrainerSpec& trainer_spec() const { return trainer_spec_; }
  const NormalizerSpec& normalizer_spec() const { return normalizer_spec_; }

 private:
  bool parse_piece(std::string_view bytes);
  bool parse_trainer_spec(std::string_view bytes);
  static bool parse_normalizer_spec(std::string_view bytes, NormalizerSpec& spec);
  std::string check() const;

  std::vector<SentencePiece> pieces_;
  TrainerSpec trainer_spec_;
  NormalizerSpec normalizer_spec_;
};

}  // namespace sentencepiece
