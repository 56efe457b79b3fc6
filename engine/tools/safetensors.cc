#include "safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "io.h"
#include "message.h"

namespace octavo {
namespace {

using nlohmann::json;

float from_half(uint16_t h) {
  const uint32_t sign = (h & 0x8000u) << 16, exponent = (h >> 10) & 31, fraction = h & 1023;
  if (exponent == 0) {  // zero or subnormal: fraction · 2^-24
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000u | (fraction << 13));
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
}

float from_bfloat(uint16_t b) { return std::bit_cast<float>(uint32_t{b} << 16); }

enum class Type { kF32, kF16, kBF16, kOther };

struct Entry {
  std::string name;
  Type type;
  std::vector<uint32_t> shape;
  uint64_t begin, end;  // inside the data
};

Type type_of(const json& name) {
  if (name == "F32") return Type::kF32;
  if (name == "F16") return Type::kF16;
  return name == "BF16" ? Type::kBF16 : Type::kOther;
}

// Fills an entry from its JSON; false if it is not what the format asks for. `available` is the number of data bytes.
bool parse_entry(const json& description, uint64_t available, Entry& entry) {
  if (!description.is_object()) return false;
  const auto dtype = description.find("dtype"), shape = description.find("shape"),
             offsets = description.find("data_offsets");
  if (dtype == description.end() || shape == description.end() || offsets == description.end()) return false;
  if (!dtype->is_string() || !shape->is_array() || !offsets->is_array() || offsets->size() != 2) return false;
  if (!(*offsets)[0].is_number_unsigned() || !(*offsets)[1].is_number_unsigned()) return false;
  entry.type = type_of(*dtype);
  entry.begin = (*offsets)[0].get<uint64_t>();
  entry.end = (*offsets)[1].get<uint64_t>();
  if (entry.begin > entry.end || entry.end > available) return false;
  uint64_t count = 1;
  for (const json& side : *shape) {
    if (!side.is_number_unsigned()) return false;
    const auto n = side.get<uint64_t>();
    if (n > available || (n > 0 && count > available / n)) return false;  // elements have a byte at least; no overflow
    count *= n;
    entry.shape.push_back(static_cast<uint32_t>(n));
  }
  if (entry.type == Type::kOther) return true;  // refused by name later
  return (entry.end - entry.begin) == count * (entry.type == Type::kF32 ? 4 : 2);
}

FloatTensor convert(const Entry& entry, const char* data) {
  const auto bytes = static_cast<size_t>(entry.end - entry.begin);
  FloatTensor tensor{entry.shape, {}};
  if (entry.type == Type::kF32) {
    tensor.values.resize(bytes / 4);
    if (bytes > 0) std::memcpy(tensor.values.data(), data, bytes);
    return tensor;
  }
  std::vector<uint16_t> halves(bytes / 2);
  if (bytes > 0) std::memcpy(halves.data(), data, bytes);
  tensor.values.resize(halves.size());
  std::transform(halves.begin(), halves.end(), tensor.values.begin(),
                 entry.type == Type::kF16 ? from_half : from_bfloat);
  return tensor;
}

}  // namespace

Result<FloatWeights> parse_safetensors(std::string_view bytes) {
  uint64_t header_bytes = 0;
  if (bytes.size() < sizeof(header_bytes)) return problem({"not a safetensors file: too short"});
  std::memcpy(&header_bytes, bytes.data(), sizeof(header_bytes));
  bytes.remove_prefix(sizeof(header_bytes));
  if (header_bytes > bytes.size() || bytes.substr(0, 1) != "{")
    return problem({"not a safetensors file, or a truncated one"});
  if (bytes.size() > UINT32_MAX) return problem({"safetensors files above 4 GB are not supported"});
  const json header = json::parse(bytes.substr(0, static_cast<size_t>(header_bytes)), nullptr, false);
  if (!header.is_object()) return problem({"not a safetensors file: its header is not JSON"});
  const std::string_view data = bytes.substr(static_cast<size_t>(header_bytes));

  std::vector<Entry> entries;
  for (const auto& [name, description] : header.items()) {
    if (name == "__metadata__") continue;
    Entry entry{name, Type::kOther, {}, 0, 0};
    if (!parse_entry(description, data.size(), entry)) {
      return problem({"the safetensors file is truncated or damaged: tensor ", name, " does not fit it"});
    }
    if (entry.type == Type::kOther) return problem({"tensor ", name, " is not of type F32, F16 or BF16"});
    entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.begin < b.begin; });
  uint64_t end = 0;
  for (const Entry& entry : entries) {  // the format allows neither gaps nor overlaps
    if (entry.begin != end)
      return problem({"the safetensors file is damaged: tensor ", entry.name, " overlaps or leaves a gap"});
    end = entry.end;
  }
  if (end != data.size()) return problem({"the safetensors file is damaged: bytes follow the last tensor"});

  FloatWeights weights;
  for (const Entry& entry : entries) weights.emplace(entry.name, convert(entry, data.data() + entry.begin));
  return weights;
}

Result<FloatWeights> read_safetensors(const std::string& path) {
  Result<std::string> bytes = read_text(path);
  if (!bytes) return Error{bytes.error()};
  Result<FloatWeights> weights = parse_safetensors(*bytes);
  if (!weights) return problem({path, ": ", weights.error()});
  return weights;
}

}  // namespace octavo
