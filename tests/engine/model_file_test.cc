#include "model_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "float_network.h"
#include "integer_network.h"
#include "quantizer.h"

namespace octavo {
namespace {

constexpr NetworkShape kShape = {.vocabulary = 48,
                                 .width = 16,
                                 .ffn = 32,
                                 .heads = 2,
                                 .encoder_layers = 1,
                                 .decoder_layers = 1,
                                 .degree = 3,
                                 .attention = AttentionKind::kPolynomial,
                                 .norm = NormKind::kL1,
                                 .max_length = 64,
                                 .eos = 1};

AlignedBytes copy(const AlignedBytes& from, size_t size) {
  AlignedBytes to(size);
  if (size > 0) std::memcpy(to.data(), from.data(), size);
  return to;
}
AlignedBytes copy(const AlignedBytes& from) { return copy(from, from.size()); }

AlignedBytes good_file(Flavour flavour = Flavour::kInt8) {
  Result<AlignedBytes> made =
      make_model(flavour, kShape, random_weights(kShape, 7), "{\"name\":\"test\"}", "vocabulary bytes");
  EXPECT_TRUE(made.ok());
  return std::move(*made);
}

FileHeader header_of(const AlignedBytes& file) {
  FileHeader header;
  std::memcpy(&header, file.data(), sizeof(header));
  return header;
}

void seal(AlignedBytes& file) {
  const uint32_t sum = file_checksum({file.data(), file.size()});
  std::memcpy(file.data() + offsetof(FileHeader, checksum), &sum, sizeof(sum));
}

// The error after changing the header (and making the checksum right again), or "" if the file is still accepted.
template <class Change>
std::string error_with_header(Change change) {
  AlignedBytes file = good_file();
  FileHeader header = header_of(file);
  change(header);
  std::memcpy(file.data(), &header, sizeof(header));
  seal(file);
  const Result<ModelFile> result = ModelFile::open(std::move(file));
  return result ? "" : result.error();
}

// The same for the table's entry of that name. `change` also gets the tensor's bytes.
template <class Change>
std::string error_with_tensor(std::string_view name, Change change, Flavour flavour = Flavour::kInt8) {
  AlignedBytes file = good_file(flavour);
  const FileHeader header = header_of(file);
  bool found = false;
  for (uint32_t i = 0; i < header.tensor_count; ++i) {
    std::byte* at = file.data() + header.table_offset + i * sizeof(TensorEntry);
    TensorEntry entry;
    std::memcpy(&entry, at, sizeof(entry));
    if (name_of(entry) != name) continue;
    found = true;
    change(entry, file.data() + entry.offset);
    std::memcpy(at, &entry, sizeof(entry));
  }
  EXPECT_TRUE(found) << name;
  seal(file);
  const Result<ModelFile> result = ModelFile::open(std::move(file));
  return result ? "" : result.error();
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(ModelFile, ChecksumIsTheOneOfZlib) {
  const std::string text = "123456789";
  const auto bytes = std::as_bytes(std::span(text));
  EXPECT_EQ(crc32(bytes), 0xCBF43926u);
  EXPECT_EQ(crc32(bytes.subspan(4), crc32(bytes.first(4))), 0xCBF43926u);
  std::vector<std::byte> longer(1000);
  for (size_t i = 0; i < longer.size(); ++i) longer[i] = static_cast<std::byte>(i * 7);
  uint32_t one_by_one = 0;
  for (const std::byte& b : longer) one_by_one = crc32({&b, 1}, one_by_one);
  EXPECT_EQ(crc32(longer), one_by_one);
}

TEST(ModelFile, GivesBackWhatWasWritten) {
  ModelWriter writer(Flavour::kInt8, kShape);
  writer.description("{}");
  writer.vocabulary("pieces");
  const std::vector<uint8_t> weights(8 * 16, 64);
  const std::vector<int16_t> bias = {-8191, 0, 8191};
  writer.add("z.weight", ElementType::kPanel7, 8, 16, 2.5f, std::as_bytes(std::span(weights)));
  writer.add("a.bias", ElementType::kInt16, 3, 1, 1.5f, std::as_bytes(std::span(bias)));
  const Result<ModelFile> model = ModelFile::open(writer.finish());
  ASSERT_TRUE(model.ok()) << model.error();
  EXPECT_EQ(model->description(), "{}");
  EXPECT_EQ(model->vocabulary(), "pieces");
  EXPECT_EQ(model->shape().width, kShape.width);
  EXPECT_EQ(model->tensors().size(), 2u);
  EXPECT_EQ(model->find("b.bias"), nullptr);
  const TensorEntry* entry = model->find("a.bias");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->scale, 1.5f);
  EXPECT_EQ(std::memcmp(model->data(*entry), bias.data(), 6), 0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(model->data(*model->find("z.weight"))) % 64, 0u);
}

TEST(ModelFile, EveryTruncationIsRefused) {
  const AlignedBytes file = good_file();
  for (size_t size = 0; size < file.size(); size += 97) {
    const Result<ModelFile> result = ModelFile::open(copy(file, size));
    ASSERT_FALSE(result.ok()) << size;
    EXPECT_TRUE(contains(result.error(), size < 8 ? "not an Octavo model" : "truncated")) << result.error();
  }
  EXPECT_TRUE(contains(ModelFile::open(copy(file, 200)).error(), "200 of " + std::to_string(file.size()) + " bytes"));
  AlignedBytes longer(file.size() + 1);
  std::memcpy(longer.data(), file.data(), file.size());
  longer.data()[file.size()] = std::byte{0};
  EXPECT_TRUE(contains(ModelFile::open(std::move(longer)).error(), "too long"));
}

TEST(ModelFile, TruncatedFilesWithAnHonestHeaderAreRefusedOrSafe) {
  const AlignedBytes file = good_file();
  for (size_t size = sizeof(FileHeader); size < file.size(); size += 97) {
    AlignedBytes shorter = copy(file, size);
    FileHeader header = header_of(shorter);
    header.file_bytes = size;
    std::memcpy(shorter.data(), &header, sizeof(header));
    seal(shorter);
    ASSERT_FALSE(ModelFile::open(std::move(shorter)).ok()) << size;
  }
}

TEST(ModelFile, EveryFlippedBitBreaksTheChecksum) {
  const AlignedBytes file = good_file();
  for (size_t bit = 0; bit < file.size() * 8; bit += 61) {
    AlignedBytes flipped = copy(file);
    flipped.data()[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    ASSERT_FALSE(ModelFile::open(std::move(flipped)).ok()) << bit;
  }
}

// With the checksum made right again the deeper checks must hold: either an error, or a network all of whose tensors
// can be read.
TEST(ModelFile, FlippedBitsUnderAValidChecksumAreRefusedOrSafe) {
  for (const Flavour flavour : {Flavour::kInt8, Flavour::kFloat32}) {
    const AlignedBytes file = good_file(flavour);
    const FileHeader header = header_of(file);
    const size_t header_bits = sizeof(FileHeader) * 8;
    const size_t table_bits = (header.table_offset + header.tensor_count * sizeof(TensorEntry)) * 8;
    size_t refused = 0, accepted = 0;
    for (size_t bit = 0; bit < file.size() * 8; bit += bit < header_bits ? 1 : bit < table_bits ? 7 : 509) {
      AlignedBytes flipped = copy(file);
      flipped.data()[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
      seal(flipped);
      const Result<ModelFile> model = ModelFile::open(std::move(flipped));
      if (!model) {
        ASSERT_FALSE(model.error().empty());
        ++refused;
        continue;
      }
      ++accepted;
      unsigned sum = 0;
      for (const TensorEntry& entry : model->tensors()) {
        const auto* bytes = static_cast<const uint8_t*>(model->data(entry));
        sum += bytes[0];
        sum += bytes[entry.bytes - 1];
      }
      sum += static_cast<unsigned>(model->description().size() + model->vocabulary().size());
      EXPECT_GT(sum, 0u);
      (void)IntegerNetwork::view(*model).ok();
      (void)FloatNetwork::view(*model).ok();
    }
    EXPECT_GT(refused, 1000u);
    EXPECT_GT(accepted, 100u);
  }
}

TEST(ModelFile, HeaderFieldsAreChecked) {
  const auto version = error_with_header([](FileHeader& h) { h.version = 2; });
  EXPECT_TRUE(contains(version, "format version 2") && contains(version, "reads version 1")) << version;
  EXPECT_TRUE(contains(error_with_header([](FileHeader& h) { h.flavour = Flavour{9}; }), "flavour 9"));
  EXPECT_TRUE(contains(error_with_header([](FileHeader& h) { h.magic[6] = '\n'; }), "not an Octavo model"));
  EXPECT_TRUE(contains(error_with_header([](FileHeader& h) { h.bits = 9; }), "9 bits"));
  EXPECT_TRUE(contains(error_with_header([](FileHeader& h) { h.reserved[2] = 1; }), "reserved"));
  EXPECT_TRUE(contains(error_with_header([](FileHeader& h) { h.tensor_count = kMaxTensors + 1; }), "tensors"));
  EXPECT_TRUE(contains(error_with_header([](FileHeader& h) { h.tensor_count = UINT32_MAX; }), "tensors"));
  EXPECT_EQ(error_with_header([](FileHeader&) {}), "");
}

TEST(ModelFile, ShapesAreChecked) {
  using S = NetworkShape;
  const std::vector<std::pair<uint32_t S::*, std::vector<uint32_t>>> bad = {
      {&S::vocabulary, {0, 8, 17, (1u << 20) + 16, UINT32_MAX}},
      {&S::width, {0, 24, 8208, 0xFFFFFFF0u}},
      {&S::ffn, {0, 40, 32784, 0xFFFFFFF0u}},
      {&S::heads, {0, 3, 4, 1025, 0x20000000u, UINT32_MAX}},  // 4 heads of 4; 2^29·8 wraps to 0
      {&S::encoder_layers, {65, UINT32_MAX}},
      {&S::decoder_layers, {0, 65, UINT32_MAX}},
      {&S::degree, {0, 6}},
      {&S::max_length, {0, 7, 4097, UINT32_MAX}},
      {&S::eos, {48, UINT32_MAX}},
  };
  for (const auto& [field, values] : bad) {
    for (const uint32_t value : values) {
      const auto error = error_with_header([&](FileHeader& h) { h.shape.*field = value; });
      EXPECT_TRUE(contains(error, "unsupported network shape")) << value << ": " << error;
    }
  }
  EXPECT_TRUE(contains(error_with_header([](FileHeader& h) { h.shape.attention = AttentionKind{2}; }), "attention"));
  EXPECT_TRUE(contains(error_with_header([](FileHeader& h) { h.shape.norm = NormKind{7}; }), "norm"));
}

TEST(ModelFile, HostileOffsetsOfSectionsAreRefused) {
  const uint64_t size = good_file().size();
  for (const uint64_t offset :
       {uint64_t{0}, uint64_t{64}, size, size + 1, uint64_t{UINT32_MAX}, uint64_t{1} << 32, (uint64_t{1} << 32) + 128,
        UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 127, uint64_t{1} << 63}) {
    EXPECT_TRUE(contains(error_with_header([=](FileHeader& h) { h.description_offset = offset; }), "description"))
        << offset;
    EXPECT_TRUE(contains(error_with_header([=](FileHeader& h) { h.vocabulary_offset = offset; }), "vocabulary"))
        << offset;
    EXPECT_TRUE(contains(error_with_header([=](FileHeader& h) { h.table_offset = offset; }), "table")) << offset;
  }
  EXPECT_TRUE(contains(error_with_header([](FileHeader& h) { h.description_bytes = UINT32_MAX; }), "description"));
  EXPECT_TRUE(contains(error_with_header([](FileHeader& h) { h.vocabulary_bytes = UINT32_MAX; }), "vocabulary"));
  EXPECT_TRUE(contains(error_with_header([](FileHeader& h) { h.file_bytes = UINT64_MAX; }), "truncated"));
  EXPECT_TRUE(contains(error_with_header([](FileHeader& h) { h.file_bytes += uint64_t{1} << 32; }), "truncated"));
}

TEST(ModelFile, HostileTensorsAreRefused) {
  constexpr auto kName = "encoder.0.ffn.w1.weight";
  for (const uint64_t offset : {uint64_t{0}, uint64_t{64}, uint64_t{1} << 32, (uint64_t{1} << 32) - 64,
                                uint64_t{0} - 64, uint64_t{1} << 63, uint64_t{0} - 512}) {
    const auto error = error_with_tensor(kName, [=](TensorEntry& e, std::byte*) { e.offset = offset; });
    EXPECT_TRUE(contains(error, "outside the file")) << offset << error;
  }
  EXPECT_TRUE(contains(error_with_tensor(kName, [](TensorEntry& e, std::byte*) { e.offset += 1; }), "aligned"));
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{511}, uint64_t{1} << 32, UINT64_MAX, (uint64_t{1} << 32) + 512}) {
    EXPECT_TRUE(contains(error_with_tensor(kName, [=](TensorEntry& e, std::byte*) { e.bytes = bytes; }), "size"))
        << bytes;
  }
  for (const uint32_t side : {0u, 12u, 0x80000000u, 0xFFFFFFF8u}) {
    EXPECT_TRUE(contains(error_with_tensor(kName, [=](TensorEntry& e, std::byte*) { e.rows = side; }), "shape"))
        << side;
  }
  for (const uint32_t side : {0u, 6u, 0x80000000u, 0xFFFFFFF8u}) {
    EXPECT_TRUE(contains(error_with_tensor(kName, [=](TensorEntry& e, std::byte*) { e.cols = side; }), "shape"))
        << side;
  }
  // 2^16 · 2^16 elements: the product is 0 in 32 bits, and so is the size the entry claims.
  const auto wrapped = [](TensorEntry& e, std::byte*) { e.rows = e.cols = 65536, e.bytes = 0; };
  EXPECT_TRUE(contains(error_with_tensor(kName, wrapped), "size"));
  const auto honest = [](TensorEntry& e, std::byte*) { e.rows = e.cols = 65536, e.bytes = uint64_t{1} << 32; };
  EXPECT_TRUE(contains(error_with_tensor(kName, honest), "outside"));
  EXPECT_TRUE(contains(error_with_tensor(kName, [](TensorEntry& e, std::byte*) { e.type = ElementType{0}; }), "type"));
  EXPECT_TRUE(contains(error_with_tensor(kName, [](TensorEntry& e, std::byte*) { e.type = ElementType{77}; }), "type"));
}

TEST(ModelFile, TensorsThatShareTheFileAreRefused) {
  const auto rest = static_cast<uint32_t>(good_file().size() - sizeof(FileHeader));
  const auto error = error_with_tensor("encoder_norm.g", [=](TensorEntry& e, std::byte*) {
    e.offset = sizeof(FileHeader);
    e.rows = rest / sizeof(int16_t);
    e.bytes = uint64_t{e.rows} * sizeof(int16_t);
  });
  EXPECT_TRUE(contains(error, "overlaps others")) << error;
}

TEST(ModelFile, ImpossibleScalesAreRefused) {
  using Limits = std::numeric_limits<float>;
  for (const float scale : {0.0f, -0.0f, -1.0f, Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(),
                            Limits::denorm_min(), Limits::min(), Limits::max()}) {
    for (const auto* name : {"embedding.weight", "encoder_norm.g", "encoder.0.ffn.w1.bias"}) {
      EXPECT_TRUE(contains(error_with_tensor(name, [=](TensorEntry& e, std::byte*) { e.scale = scale; }), "scale"))
          << scale;
    }
  }
}

template <class T>
std::string error_with_value(std::string_view name, T value, Flavour flavour = Flavour::kInt8) {
  return error_with_tensor(
      name,
      [=](TensorEntry& e, std::byte* data) {
        std::memcpy(data + e.bytes - sizeof(T), &value, sizeof(T));  // the last element
      },
      flavour);
}

TEST(ModelFile, ValuesOutOfRangeAreRefused) {
  for (const int u : {0, 128, 255})
    EXPECT_TRUE(contains(error_with_value<uint8_t>("embedding.weight", static_cast<uint8_t>(u)), "range"));
  for (const int u : {1, 127}) EXPECT_EQ(error_with_value<uint8_t>("embedding.weight", static_cast<uint8_t>(u)), "");
  EXPECT_TRUE(contains(error_with_value<uint16_t>("embedding.column", 0), "range"));
  EXPECT_TRUE(contains(error_with_value<uint16_t>("embedding.column", 32768), "range"));
  EXPECT_EQ(error_with_value<uint16_t>("embedding.column", 32767), "");
  EXPECT_TRUE(contains(error_with_value<int16_t>("encoder_norm.g", -32768), "range"));
  EXPECT_EQ(error_with_value<int16_t>("encoder_norm.g", -32767), "");
  for (const auto* name : {"encoder_norm.b", "encoder.0.self_attn.q.bias"}) {
    EXPECT_TRUE(contains(error_with_value<int16_t>(name, 8192), "range"));
    EXPECT_TRUE(contains(error_with_value<int16_t>(name, -8192), "range"));
    EXPECT_TRUE(contains(error_with_value<int16_t>(name, -32768), "range"));
    EXPECT_EQ(error_with_value<int16_t>(name, -8191), "");
  }
  for (const float x : {std::nanf(""), INFINITY, -INFINITY, 1e30f}) {
    EXPECT_TRUE(contains(error_with_value<float>("encoder.0.self_attn.b", x), "range")) << x;
    EXPECT_TRUE(contains(error_with_value<float>("encoder.0.ffn.w2.weight", x, Flavour::kFloat32), "range")) << x;
  }
  EXPECT_TRUE(contains(error_with_value<float>("encoder.0.self_attn.delta", -0.1f), "range"));
  EXPECT_EQ(error_with_value<float>("encoder.0.self_attn.b", -0.1f), "");
  for (const double x : {1.5, -3.0, std::nan(""), double{INFINITY}}) {
    EXPECT_TRUE(contains(error_with_value<double>("positions.rotation", x), "range")) << x;
  }
}

TEST(ModelFile, NamesAreChecked) {
  const auto rename = [](std::string_view text) {
    return error_with_tensor("encoder_norm.b", [=](TensorEntry& e, std::byte*) {
      e.name = {};
      text.copy(e.name.data(), e.name.size());
    });
  };
  EXPECT_TRUE(contains(rename(""), "proper name"));
  EXPECT_TRUE(contains(rename("a\tb"), "proper name"));
  EXPECT_TRUE(contains(rename("encoder_norm.\xC3\xA4"), "proper name"));
  EXPECT_TRUE(contains(rename(std::string(48, 'x')), "proper name"));  // not terminated
  EXPECT_TRUE(contains(rename("encoder_norm.g"), "two tensors named encoder_norm.g"));
  EXPECT_TRUE(contains(rename("zzz"), "not sorted"));
  EXPECT_EQ(rename("encoder_norm.c"), "");
}

TEST(ModelFile, ViewsNameTheTensorThatDoesNotFit) {
  const auto view = [](const AlignedBytes& bytes, const char* name, auto change) {
    AlignedBytes file = copy(bytes);
    const FileHeader header = header_of(file);
    for (uint32_t i = 0; i < header.tensor_count; ++i) {
      auto* entry = reinterpret_cast<TensorEntry*>(file.data() + header.table_offset + i * sizeof(TensorEntry));
      TensorEntry changed;
      std::memcpy(&changed, entry, sizeof(changed));
      if (name_of(changed) == name) change(changed);
      std::memcpy(static_cast<void*>(entry), &changed, sizeof(changed));
    }
    seal(file);
    const Result<ModelFile> model = ModelFile::open(std::move(file));
    EXPECT_TRUE(model.ok()) << model.error();
    if (model->flavour() == Flavour::kInt8) {
      const auto network = IntegerNetwork::view(*model);
      return network ? std::string() : network.error();
    }
    const auto network = FloatNetwork::view(*model);
    return network ? std::string() : network.error();
  };
  const auto swap_sides = [](TensorEntry& e) { std::swap(e.rows, e.cols); };
  const auto rename = [](TensorEntry& e) { e.name[std::strlen(e.name.data()) - 1] = 'z'; };
  for (const Flavour flavour : {Flavour::kInt8, Flavour::kFloat32}) {
    const AlignedBytes file = good_file(flavour);
    EXPECT_EQ(view(file, "", swap_sides), "");
    EXPECT_TRUE(contains(view(file, "encoder.0.ffn.w1.weight", swap_sides), "encoder.0.ffn.w1.weight has another"));
    EXPECT_TRUE(contains(view(file, "decoder_norm.b", swap_sides), "decoder_norm.b has another"));
    EXPECT_TRUE(
        contains(view(file, "decoder.0.cross_attn.delta", rename), "lacks the tensor decoder.0.cross_attn.delta"));
    EXPECT_TRUE(contains(view(file, "positions.rotation", rename), "lacks the tensor positions.rotation"));
  }
}

}  // namespace
}  // namespace octavo
