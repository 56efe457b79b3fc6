#include "safetensors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace octavo {
namespace {

std::string file(const std::string& header, const std::string& data) {
  const uint64_t size = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &size, 8);
  return bytes + header + data;
}

template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

TEST(Safetensors, ReadsEveryFloatType) {
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
      R"("h":{"dtype":"F16","shape":[6],"data_offsets":[8,20]},"b":{"dtype":"BF16","shape":[2],"data_offsets":[20,24]},)"
      R"("none":{"dtype":"F32","shape":[0,4],"data_offsets":[24,24]},"one":{"dtype":"F32","shape":[],"data_offsets":[24,28]}}   )";
  const std::string data = raw<float>({1.5f, -2.0f}) + raw<uint16_t>({0x3C00, 0xC000, 0x0001, 0x7BFF, 0x8000, 0x7C00}) +
                           raw<uint16_t>({0x3F80, 0xC040}) + raw<float>({7.0f});
  const Result<FloatWeights> weights = parse_safetensors(file(header, data));
  ASSERT_TRUE(weights.ok()) << weights.error();
  EXPECT_EQ(weights->size(), 5u);
  EXPECT_EQ(weights->at("a").shape, (std::vector<uint32_t>{2, 1}));
  EXPECT_EQ(weights->at("a").values, (std::vector<float>{1.5f, -2.0f}));
  EXPECT_EQ(weights->at("h").values, (std::vector<float>{1.0f, -2.0f, 0x1p-24f, 65504.0f, -0.0f, INFINITY}));
  EXPECT_EQ(weights->at("b").values, (std::vector<float>{1.0f, -3.0f}));
  EXPECT_TRUE(weights->at("none").values.empty());
  EXPECT_EQ(weights->at("one").values, std::vector<float>{7.0f});
}

TEST(Safetensors, ReadsTheTinyModel) {
  const Result<FloatWeights> weights = read_safetensors(OCTAVO_TEST_DATA "/tiny.safetensors");
  ASSERT_TRUE(weights.ok()) << weights.error();
  EXPECT_EQ(weights->at("encoder.1.self_attn.qkv.weight").shape, (std::vector<uint32_t>{96, 32}));
  EXPECT_FALSE(read_safetensors(OCTAVO_TEST_DATA "/no-such-file").ok());
}

TEST(Safetensors, EveryTruncationIsRefused) {
  const std::string whole = file(
      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F16","shape":[1],"data_offsets":[8,10]}})",
      std::string(10, '\0'));
  ASSERT_TRUE(parse_safetensors(whole).ok());
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(parse_safetensors(std::string_view(whole).substr(0, size)).ok()) << size;
  }
  EXPECT_FALSE(parse_safetensors(whole + "x").ok());
}

TEST(Safetensors, HostileHeadersAreRefused) {
  const auto refused = [](const std::string& header, size_t bytes = 8) {
    const Result<FloatWeights> weights = parse_safetensors(file(header, std::string(bytes, '\0')));
    return !weights.ok() && !weights.error().empty();
  };
  const auto tensor = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return R"({"a":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
  };
  EXPECT_FALSE(refused(tensor("\"F32\"", "[2]", "[0,8]")));
  EXPECT_TRUE(refused("[]"));
  EXPECT_TRUE(refused("{\"a\":1}"));
  EXPECT_TRUE(refused("{\"a\":{}}"));
  EXPECT_TRUE(refused("{\"a\":"));
  EXPECT_TRUE(refused(std::string(100000, '[')));
  EXPECT_TRUE(refused("{\"a\":" + std::string(100000, '[')));
  for (const auto* dtype : {"\"I64\"", "\"\"", "3", "null"})
    EXPECT_TRUE(refused(tensor(dtype, "[2]", "[0,8]"))) << dtype;
  for (const auto* shape : {"[3]", "[-2]", "[2.0]", "[\"2\"]", "2", "null", "[4294967296,4294967296,2]",
                            "[9223372036854775808,2,2]", "[18446744073709551615]", "[0]", "[4294967298]"}) {
    EXPECT_TRUE(refused(tensor("\"F32\"", shape, "[0,8]"))) << shape;
  }
  for (const auto* offsets : {"[0,9]", "[8,0]", "[1,9]", "[4,8]", "[-8,0]", "[0]", "[0,8,8]", "null", "[0,8.0]",
                              "[18446744073709551608,18446744073709551615]", "[0,18446744073709551615]"}) {
    EXPECT_TRUE(refused(tensor("\"F32\"", "[2]", offsets))) << offsets;
  }
  // Overlapping tensors, and a header that claims to be longer than the file.
  EXPECT_TRUE(refused(
      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})"));
  for (const uint64_t size : {uint64_t{100}, uint64_t{1} << 32, UINT64_MAX, UINT64_MAX - 7}) {
    std::string bytes = file("{}", "");
    std::memcpy(bytes.data(), &size, 8);
    EXPECT_FALSE(parse_safetensors(bytes).ok()) << size;
  }
}

}  // namespace
}  // namespace octavo
