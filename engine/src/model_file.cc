#include "model_file.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "kernels/kernel.h"
#include "message.h"

namespace octavo {

static_assert(std::endian::native == std::endian::little, "the file is little-endian and read without conversion");

namespace {

constexpr uint64_t round_up(uint64_t n, uint64_t multiple) { return (n + multiple - 1) / multiple * multiple; }

// Never adds two numbers from the file, so it cannot wrap around.
bool inside(uint64_t offset, uint64_t bytes, uint64_t file_bytes) {
  return offset >= sizeof(FileHeader) && offset <= file_bytes && bytes <= file_bytes - offset;
}

// Every element, without an early exit so that it vectorises: a good file is the common case.
template <class T, class Good>
bool all_of(const void* data, size_t count, Good good) {
  const T* x = static_cast<const T*>(data);
  bool ok = true;
  for (size_t i = 0; i < count; ++i) ok &= good(x[i]);
  return ok;
}

bool all_units(const double* x, size_t rows) {  // a longer rotation would grow from token to token
  bool ok = true;
  for (size_t i = 0; i < rows; ++i) ok &= std::abs(x[2 * i] * x[2 * i] + x[2 * i + 1] * x[2 * i + 1] - 1.0) <= 1e-9;
  return ok;
}

bool values_fit(const TensorEntry& entry, const void* data) {
  const size_t count = size_t{entry.rows} * entry.cols;  // no more than the bytes of the file
  const std::string_view name = name_of(entry);
  switch (entry.type) {
    case ElementType::kPanel7:
      return all_of<uint8_t>(data, count, [](uint8_t x) { return x >= 1 && x <= kWeightOffset + kWeightMax; });
    case ElementType::kMultiplier:
      return all_of<uint16_t>(data, count, [](uint16_t x) { return x >= 1 && x <= 32767; });
    case ElementType::kInt16: {
      const int limit = name.ends_with(".g") ? 32767 : 8191;
      return all_of<int16_t>(data, count, [limit](int16_t x) { return x >= -limit && x <= limit; });
    }
    case ElementType::kFloat32:
    case ElementType::kPanelFloat: {
      const float least = name.ends_with(".delta") ? 0.0f : -kRealMax;
      return all_of<float>(data, count, [least](float x) { return x >= least && x <= kRealMax; });  // false for NaN
    }
    case ElementType::kFloat64:
      return all_units(static_cast<const double*>(data), entry.rows);
  }
  return false;
}

bool shape_fits(const TensorEntry& entry) {
  constexpr uint32_t kMaxSide = 1u << 20;  // so that rows·cols·8 < 2^44
  if (entry.rows < 1 || entry.rows > kMaxSide || entry.cols < 1 || entry.cols > kMaxSide) return false;
  switch (entry.type) {
    case ElementType::kPanel7:
      return entry.rows % kPanel == 0 && entry.cols % 4 == 0;
    case ElementType::kPanelFloat:
      return entry.rows % kPanel == 0;
    case ElementType::kFloat64:
      return entry.cols == 2;
    default:
      return true;
  }
}

// What is wrong with a tensor, or null. `unclaimed` bytes of the file are left for this and the following tensors: a
// file in which many share the same bytes could ask for the time and the memory of a network far larger than itself.
const char* flaw(const TensorEntry& entry, const std::byte* file, uint64_t file_bytes, uint64_t& unclaimed) {
  const size_t size = element_bytes(entry.type);
  if (size == 0) return "has an unknown element type";
  if (!shape_fits(entry)) return "has an impossible shape";
  if (entry.bytes != uint64_t{entry.rows} * entry.cols * size) return "has a size that does not match its shape";
  if (entry.offset % kTensorAlignment != 0) return "is not aligned to 64 bytes";
  if (!inside(entry.offset, entry.bytes, file_bytes)) return "lies outside the file";
  if (entry.bytes > unclaimed) return "overlaps others: together they are larger than the file";
  unclaimed -= entry.bytes;
  if (!(entry.scale >= kScaleMin && entry.scale <= kScaleMax))
    return "has an impossible scale";  // NaN and infinity too
  if (!values_fit(entry, file + static_cast<size_t>(entry.offset))) return "has values out of range";
  return nullptr;
}

bool is_name(const std::array<char, 48>& name) {
  const auto end = std::find(name.begin(), name.end(), '\0');
  return end != name.begin() && end != name.end() &&
         std::all_of(name.begin(), end, [](char c) { return c > ' ' && c < 127; });
}

Status check_header(const FileHeader& header, std::span<const std::byte> file) {
  const uint64_t size = file.size();
  if (header.version != kFormatVersion) {
    return problem({"the model file has format version ", std::to_string(header.version),
                    "; this engine reads version ", std::to_string(kFormatVersion),
                    ": get a matching model or engine"});
  }
  if (header.file_bytes > size) {
    return problem({"the model file is truncated: ", std::to_string(size), " of ", std::to_string(header.file_bytes),
                    " bytes; download it again"});
  }
  if (header.file_bytes < size) {
    return problem({"the model file is too long: ", std::to_string(size), " bytes instead of ",
                    std::to_string(header.file_bytes), "; download it again"});
  }
  if (file_checksum(file) != header.checksum) {
    return problem({"the model file is damaged: its checksum does not match; download it again"});
  }
  if (header.flavour != Flavour::kInt8 && header.flavour != Flavour::kFloat32) {
    return problem({"the model file has the unknown flavour ", std::to_string(static_cast<uint32_t>(header.flavour))});
  }
  if (header.bits != (header.flavour == Flavour::kInt8 ? 8 : 32)) {
    return problem({"the model file asks for activations of ", std::to_string(header.bits), " bits"});
  }
  if (header.reserved != std::array<uint32_t, 4>{}) return problem({"the model file uses reserved header fields"});
  if (Status bad = check_shape(header.shape)) return bad;
  if (header.tensor_count > kMaxTensors) {
    return problem(
        {"the model file lists ", std::to_string(header.tensor_count), " tensors, more than any network has"});
  }
  if (!inside(header.description_offset, header.description_bytes, size)) {
    return problem({"the model file's description lies outside the file"});
  }
  if (!inside(header.vocabulary_offset, header.vocabulary_bytes, size)) {
    return problem({"the model file's vocabulary lies outside the file"});
  }
  if (!inside(header.table_offset, uint64_t{header.tensor_count} * sizeof(TensorEntry), size)) {
    return problem({"the model file's tensor table lies outside the file"});
  }
  return std::nullopt;
}

}  // namespace

Status check_shape(const NetworkShape& s) {
  struct Rule {
    const char* name;
    uint32_t value, min, max, multiple;
  };
  const Rule rules[] = {
      {"vocabulary", s.vocabulary, 16, 1u << 20, 16},
      {"width", s.width, 16, 8192, 16},
      {"ffn", s.ffn, 16, 32768, 16},
      {"heads", s.heads, 1, 1024, 1},
      {"encoder_layers", s.encoder_layers, 0, 64, 1},
      {"decoder_layers", s.decoder_layers, 1, 64, 1},
      {"degree", s.degree, 1, 5, 1},
      {"attention", static_cast<uint32_t>(s.attention), 0, 1, 1},
      {"norm", static_cast<uint32_t>(s.norm), 0, 1, 1},
      {"max_length", s.max_length, 8, 4096, 1},
      {"eos", s.eos, 0, s.vocabulary - 1, 1},
  };
  for (const Rule& rule : rules) {
    if (rule.value >= rule.min && rule.value <= rule.max && rule.value % rule.multiple == 0) continue;
    return problem({"unsupported network shape: ", rule.name, " is ", std::to_string(rule.value), " but must be ",
                    std::to_string(rule.min), " to ", std::to_string(rule.max),
                    rule.multiple > 1 ? " and a multiple of 16" : ""});
  }
  if (s.width % (s.heads * 8) != 0) {  // heads <= 1024: no overflow
    return problem({"unsupported network shape: ", std::to_string(s.heads), " heads do not divide the width ",
                    std::to_string(s.width), " into multiples of 8"});
  }
  return std::nullopt;
}

size_t element_bytes(ElementType type) {
  switch (type) {
    case ElementType::kPanel7:
      return 1;
    case ElementType::kMultiplier:
    case ElementType::kInt16:
      return 2;
    case ElementType::kFloat32:
    case ElementType::kPanelFloat:
      return 4;
    case ElementType::kFloat64:
      return 8;
  }
  return 0;
}

AlignedBytes::AlignedBytes(size_t size) {
  const size_t capacity =
      (size / kTensorAlignment + 1) * kTensorAlignment;  // wraps to less than size only near SIZE_MAX
  if (capacity < size) return;
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(kTensorAlignment, capacity)));
  if (data_) size_ = size;
}

void AlignedBytes::Free::operator()(std::byte* p) const { std::free(p); }

// Eight bytes at a time through eight tables, which are cheap
// enough to build on the spot (2048 entries) and so cost no space.
uint32_t crc32(std::span<const std::byte> bytes, uint32_t seed) {
  uint32_t table[8][256];
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c >> 1) ^ ((c & 1) != 0 ? 0xEDB88320u : 0u);
    table[0][i] = c;
  }
  for (int t = 1; t < 8; ++t) {
    for (uint32_t i = 0; i < 256; ++i) table[t][i] = (table[t - 1][i] >> 8) ^ table[0][table[t - 1][i] & 255];
  }
  uint32_t crc = ~seed;
  const std::byte* p = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; p += 8, left -= 8) {
    uint32_t word[2];
    std::memcpy(word, p, 8);
    word[0] ^= crc;
    crc = 0;
    for (int i = 0; i < 8; ++i) crc ^= table[7 - i][(word[i / 4] >> (8 * (i % 4))) & 255];
  }
  for (; left > 0; ++p, --left) crc = (crc >> 8) ^ table[0][(crc ^ static_cast<uint32_t>(*p)) & 255];
  return ~crc;
}

uint32_t file_checksum(std::span<const std::byte> file) {
  constexpr size_t kField = offsetof(FileHeader, checksum);
  constexpr std::array<std::byte, 4> kZero{};
  return crc32(file.subspan(kField + 4), crc32(kZero, crc32(file.first(kField))));
}

Result<ModelFile> ModelFile::open(AlignedBytes bytes) {
  const std::span<const std::byte> file{bytes.data(), bytes.size()};
  if (file.size() < kMagic.size() || std::memcmp(file.data(), kMagic.data(), kMagic.size()) != 0) {
    return problem({"not an Octavo model: the file does not begin like one"});
  }
  if (file.size() < sizeof(FileHeader)) {
    return problem({"the model file is truncated: ", std::to_string(file.size()),
                    " bytes, less than its header; download it again"});
  }
  ModelFile model;
  std::memcpy(&model.header_, file.data(), sizeof(FileHeader));
  if (Status bad = check_header(model.header_, file)) return *std::move(bad);

  model.tensors_.resize(model.header_.tensor_count);
  std::memcpy(static_cast<void*>(model.tensors_.data()), file.data() + static_cast<size_t>(model.header_.table_offset),
              model.tensors_.size() * sizeof(TensorEntry));
  std::string_view previous;
  uint64_t unclaimed = file.size();
  for (const TensorEntry& entry : model.tensors_) {
    if (!is_name(entry.name)) return problem({"the model file has a tensor without a proper name"});
    const std::string_view name = name_of(entry);
    if (name == previous) return problem({"the model file has two tensors named ", name});
    if (name < previous) return problem({"the model file's tensor table is not sorted: ", name, " is out of place"});
    previous = name;
    if (const char* what = flaw(entry, file.data(), file.size(), unclaimed))
      return problem({"the model file's tensor ", name, " ", what});
  }
  model.bytes_ = std::move(bytes);
  return model;
}

std::string_view ModelFile::description() const {
  return {reinterpret_cast<const char*>(bytes_.data()) + static_cast<size_t>(header_.description_offset),
          header_.description_bytes};
}

std::string_view ModelFile::vocabulary() const {
  return {reinterpret_cast<const char*>(bytes_.data()) + static_cast<size_t>(header_.vocabulary_offset),
          header_.vocabulary_bytes};
}

const TensorEntry* ModelFile::find(std::string_view name) const {
  const auto at =
      std::lower_bound(tensors_.begin(), tensors_.end(), name,
                       [](const TensorEntry& entry, std::string_view wanted) { return name_of(entry) < wanted; });
  return at != tensors_.end() && name_of(*at) == name ? &*at : nullptr;
}

void ModelWriter::add(std::string_view name, ElementType type, uint32_t rows, uint32_t cols, float scale,
                      std::span<const std::byte> data) {
  TensorEntry entry{{}, type, rows, cols, scale, 0, data.size()};
  name.copy(entry.name.data(), entry.name.size() - 1);
  tensors_.push_back({entry, {data.begin(), data.end()}});
}

AlignedBytes ModelWriter::finish() const {
  FileHeader header{};
  header.magic = kMagic;
  header.version = kFormatVersion;
  header.flavour = flavour_;
  header.shape = shape_;
  header.bits = flavour_ == Flavour::kInt8 ? 8 : 32;
  header.tensor_count = static_cast<uint32_t>(tensors_.size());
  header.description_bytes = static_cast<uint32_t>(description_.size());
  header.vocabulary_bytes = static_cast<uint32_t>(vocabulary_.size());
  header.description_offset = sizeof(FileHeader);
  header.vocabulary_offset = header.description_offset + description_.size();
  header.table_offset = header.vocabulary_offset + vocabulary_.size();
  uint64_t end = header.table_offset + tensors_.size() * sizeof(TensorEntry);
  std::vector<TensorEntry> table;
  for (const Pending& tensor : tensors_) {
    table.push_back(tensor.entry);
    table.back().offset = round_up(end, kTensorAlignment);
    end = table.back().offset + tensor.entry.bytes;
  }
  header.file_bytes = end;

  AlignedBytes file(static_cast<size_t>(end));
  if (file.empty()) return file;
  std::memset(file.data(), 0, file.size());
  for (size_t i = 0; i < table.size(); ++i) {
    std::copy(tensors_[i].data.begin(), tensors_[i].data.end(), file.data() + static_cast<size_t>(table[i].offset));
  }
  std::stable_sort(table.begin(), table.end(),
                   [](const TensorEntry& a, const TensorEntry& b) { return name_of(a) < name_of(b); });
  std::memcpy(file.data() + static_cast<size_t>(header.table_offset), table.data(), table.size() * sizeof(TensorEntry));
  description_.copy(reinterpret_cast<char*>(file.data()) + static_cast<size_t>(header.description_offset),
                    description_.size());
  vocabulary_.copy(reinterpret_cast<char*>(file.data()) + static_cast<size_t>(header.vocabulary_offset),
                   vocabulary_.size());
  std::memcpy(file.data(), &header, sizeof(header));
  header.checksum = file_checksum({file.data(), file.size()});
  std::memcpy(file.data(), &header, sizeof(header));
  return file;
}

}  // namespace octavo
