// One model, one file: `model.octavo`.
//
//   Header            fixed, little-endian, 128 bytes: magic, version, network shape, where everything is, checksum
//   description       JSON for people and for JavaScript: languages, shape, bits, vocabulary kind, training card
//   vocabulary        a sentencepiece model
//   tensor table      TensorEntry × count
//   tensors           each 64-byte aligned, weights in the order the kernel reads them
//
// Loading is one copy of the bytes and a table of views. The file is hostile until every offset, size, shape and value
// in it has been checked; the engine reads the shape from the header only, so that it needs no JSON parser. The table
// is sorted by name, which makes names unique and look-ups short; the tensors themselves lie in the order the forward
// pass uses them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "octavo/status.h"

namespace octavo {

enum class Flavour : uint32_t { kInt8 = 0, kFloat32 = 1 };
enum class AttentionKind : uint32_t { kPolynomial = 0, kSoftmax = 1 };
enum class NormKind : uint32_t { kL1 = 0, kL2 = 1 };

// The shape of a network: everything the forward pass must know. encoder_layers == 0: a decoder-only language model.
struct NetworkShape {
  uint32_t vocabulary;      // multiple of 16, at most 2^20
  uint32_t width;           // d, multiple of 16, at most 8192
  uint32_t ffn;             // multiple of 16, at most 32768
  uint32_t heads;           // divides width into multiples of 8
  uint32_t encoder_layers;  // 0..64
  uint32_t decoder_layers;  // 1..64
  uint32_t degree;          // n of the polynomial attention, 1..5
  AttentionKind attention;
  NormKind norm;
  uint32_t max_length;  // longest segment in pieces, 8..4096
  uint32_t eos;         // ends a sentence and starts the decoder
};

// The ranges above, and that they fit each other.
Status check_shape(const NetworkShape& shape);

constexpr std::array<char, 8> kMagic = {'O', 'C', 'T',  'A',
                                        'V', 'O', '\r', '\n'};  // a text-mode transfer breaks it visibly
constexpr uint32_t kFormatVersion = 1;
constexpr uint32_t kMaxTensors = 8192;  // 64 + 64 layers have 4103
constexpr size_t kTensorAlignment = 64;

// Scales and floats outside these ranges belong to no trained network. Inside them no product of a few overflows, and
// held_scale (fixed_point.h) keeps those of many from vanishing.
constexpr float kScaleMin = 0x1p-30f, kScaleMax = 0x1p30f;
constexpr float kRealMax = 0x1p30f;

struct FileHeader {
  std::array<char, 8> magic;  // kMagic
  uint32_t version;           // kFormatVersion
  Flavour flavour;
  NetworkShape shape;
  uint32_t bits;  // of activations: 8, or 32 for the FP32 flavour
  uint32_t tensor_count;
  uint32_t description_bytes;
  uint32_t vocabulary_bytes;
  uint32_t checksum;  // CRC-32 of the whole file with this field as 0
  uint64_t file_bytes;
  uint64_t description_offset;
  uint64_t vocabulary_offset;
  uint64_t table_offset;
  std::array<uint32_t, 4> reserved;  // 0
};
static_assert(sizeof(FileHeader) == 128 && std::is_trivially_copyable_v<FileHeader>);

enum class ElementType : uint32_t {
  kPanel7 = 1,      // uint8, weight + 64, packed in panels (kernels/kernel.h); rows = outputs, cols = inputs
  kMultiplier = 2,  // uint16 Q15 column multipliers of a kPanel7 tensor, 1..32767
  kInt16 = 3,       // int16: norm gains "….g" (|x| <= 32767) and everything else, biases (|x| <= 8191)
  kFloat32 = 4,     // plain row-major, |x| <= kRealMax; per-head parameters, and biases and norms of the FP32 flavour
  kPanelFloat = 5,  // float weights in panels of 8 outputs: [rows/8][cols][8], |x| <= kRealMax
  kFloat64 = 6,     // position rotations: rows of (cos, sin)
};

struct TensorEntry {
  std::array<char, 48> name;  // zero-terminated printable ASCII, e.g. "decoder.0.cross_attn.k.weight"
  ElementType type;
  uint32_t rows;
  uint32_t cols;
  float scale;  // real = x / scale, kScaleMin..kScaleMax; 1 for float tensors
  uint64_t offset;
  uint64_t bytes;
};
static_assert(sizeof(TensorEntry) == 80);

size_t element_bytes(ElementType type);  // 0 for a type that does not exist
inline std::string_view name_of(const TensorEntry& entry) { return entry.name.data(); }

// Bytes aligned for SIMD loads, owned.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(size_t size);  // empty() if memory ran out
  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }
  size_t size() const { return size_; }
  bool empty() const { return data_ == nullptr; }

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  std::unique_ptr<std::byte, Free> data_;
  size_t size_ = 0;
};

class ModelFile {
 public:
  // Takes the bytes of a whole file and checks everything about them. The error names what is wrong with the file.
  static Result<ModelFile> open(AlignedBytes bytes);

  const NetworkShape& shape() const { return header_.shape; }
  Flavour flavour() const { return header_.flavour; }
  std::string_view description() const;                              // JSON
  std::string_view vocabulary() const;                               // sentencepiece model
  std::span<const TensorEntry> tensors() const { return tensors_; }  // sorted by name
  size_t bytes() const { return bytes_.size(); }
  std::span<const std::byte> contents() const { return {bytes_.data(), bytes_.size()}; }  // the whole file

  // The entry of that name, or null. Its offset and size lie inside the file.
  const TensorEntry* find(std::string_view name) const;
  const void* data(const TensorEntry& entry) const { return bytes_.data() + static_cast<size_t>(entry.offset); }

 private:
  AlignedBytes bytes_;
  FileHeader header_{};
  std::vector<TensorEntry> tensors_;
};

// Assembles a file: what `octavo quantize` writes and tests build on. It checks nothing; ModelFile::open does.
class ModelWriter {
 public:
  ModelWriter(Flavour flavour, const NetworkShape& shape) : flavour_(flavour), shape_(shape) {}
  void description(std::string_view json) { description_ = json; }
  void vocabulary(std::string_view sentencepiece) { vocabulary_ = sentencepiece; }
  void add(std::string_view name, ElementType type, uint32_t rows, uint32_t cols, float scale,
           std::span<const std::byte> data);
  AlignedBytes finish() const;  // empty() if memory ran out

 private:
  struct Pending {
    TensorEntry entry;
    std::vector<std::byte> data;
  };
  Flavour flavour_;
  NetworkShape shape_;
  std::string description_, vocabulary_;
  std::vector<Pending> tensors_;
};

// The CRC-32 of zlib and PNG; `seed` is the result for the bytes before these.
uint32_t crc32(std::span<const std::byte> bytes, uint32_t seed = 0);
// What the header's checksum field must hold. The file has at least a header.
uint32_t file_checksum(std::span<const std::byte> file);

}  // namespace octavo
