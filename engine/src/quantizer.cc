#include "quantizer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>

#include "fixed_point.h"
#include "kernels/kernel.h"
#include "message.h"

namespace octavo {
namespace {

// Half away from zero, like every rounding of the engine. |x| < 2^51.
double round_away(double x) { return std::trunc(x + std::copysign(0.5, x)); }

float max_abs(const float* x, size_t n) {
  float max = 0;
  for (size_t i = 0; i < n; ++i) max = std::max(max, std::abs(x[i]));
  return max;
}

// The scale at which numbers of this maximum fill `limit`. Numbers
// too small to matter beside others share one largest scale.
double filling_scale(double limit, double max) {
  constexpr double kLargest = 0x1p20;
  return max > 0 ? std::min(limit / max, kLargest) : kLargest;
}

double quantize_weight(double w, double scale) {
  return std::clamp(round_away(w * scale), -double{kWeightMax}, double{kWeightMax});
}

// Clipping the largest weights of a row costs less than it gains the others, up to a point: tries a few.
double best_scale(const float* w, uint32_t n, float max) {
  constexpr double kClips[] = {1, 0.97, 0.94, 0.9, 0.85, 0.8};
  double best = 0, least = std::numeric_limits<double>::infinity();
  for (const double clip : kClips) {
    const double scale = filling_scale(kWeightMax, max * clip), step = 1 / scale;
    double loss = 0;
    for (uint32_t k = 0; k < n; ++k) {
      const double error = w[k] - quantize_weight(w[k], scale) * step;
      loss += error * error;
    }
    if (loss < least) least = loss, best = scale;
  }
  return best;
}

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

void add_int16(ModelWriter& writer, const Parameter& p, const float* x, int limit) {
  const auto scale = static_cast<float>(filling_scale(limit, max_abs(x, p.rows)));
  std::vector<int16_t> values(p.rows);
  for (uint32_t i = 0; i < p.rows; ++i) {
    values[i] = static_cast<int16_t>(std::clamp(round_away(double{x[i]} * scale), -double(limit), double(limit)));
  }
  writer.add(p.name, ElementType::kInt16, p.rows, 1, scale, bytes_of(values));
}

void add_float_panels(ModelWriter& writer, const Parameter& p, const float* w) {
  std::vector<float> panels(size_t{p.rows} * p.cols);
  for (size_t j = 0; j < p.rows; ++j) {
    for (size_t k = 0; k < p.cols; ++k) panels[(j / kPanel * p.cols + k) * kPanel + j % kPanel] = w[j * p.cols + k];
  }
  writer.add(p.name, ElementType::kPanelFloat, p.rows, p.cols, 1, bytes_of(panels));
}

void add_parameter(ModelWriter& writer, Flavour flavour, const Parameter& p, const float* x) {
  if (p.kind == ParameterKind::kMatrix && flavour == Flavour::kFloat32) return add_float_panels(writer, p, x);
  if (p.kind == ParameterKind::kMatrix) {
    const QuantizedMatrix matrix = quantize_matrix(x, p.rows, p.cols);
    const std::string stem = p.name.substr(0, p.name.rfind('.'));
    writer.add(p.name, ElementType::kPanel7, p.rows, p.cols, matrix.scale, bytes_of(matrix.panels));
    writer.add(stem + ".column", ElementType::kMultiplier, p.rows, 1, 1, bytes_of(matrix.column));
    return;
  }
  if (flavour == Flavour::kInt8 && p.kind == ParameterKind::kBias) return add_int16(writer, p, x, kWideMax);
  if (flavour == Flavour::kInt8 && p.kind == ParameterKind::kGain) return add_int16(writer, p, x, 32767);
  std::vector<float> values(x, x + p.rows);
  if (p.kind == ParameterKind::kDelta) {
    for (float& value : values) value = std::abs(value);
  }
  writer.add(p.name, ElementType::kFloat32, p.rows, 1, 1, bytes_of(values));
}

void add_rotation(ModelWriter& writer, uint32_t width) {
  const uint32_t half = width / 2;
  std::vector<double> rotation;
  for (uint32_t i = 0; i < half; ++i) {
    const double angle = 1 / std::pow(10000.0, double(i) / half);
    rotation.push_back(std::cos(angle));
    rotation.push_back(std::sin(angle));
  }
  writer.add("positions.rotation", ElementType::kFloat64, half, 2, 1, bytes_of(rotation));
}

std::string shape_text(std::span<const uint32_t> shape) {
  std::string text = "(";
  for (const uint32_t side : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(side);
  return text + ")";
}

Status check(const FloatWeights& weights, const std::vector<Parameter>& wanted) {
  std::set<std::string_view> used;
  for (const Parameter& p : wanted) {
    if (!used.insert(p.source).second) continue;
    const auto found = weights.find(p.source);
    if (found == weights.end()) return problem({"the weights lack the tensor ", p.source});
    const FloatTensor& tensor = found->second;
    const std::vector<uint32_t> shape =
        p.kind == ParameterKind::kMatrix ? std::vector{p.source_rows, p.cols} : std::vector{p.source_rows};
    if (tensor.shape != shape || tensor.values.size() != size_t{p.source_rows} * p.cols) {
      return problem({"the tensor ", p.source, " has shape ", shape_text(tensor.shape),
                      " but the configuration asks for ", shape_text(shape)});
    }
    const auto fits = [](float x) { return std::abs(x) <= kRealMax; };  // false for NaN
    if (!std::all_of(tensor.values.begin(), tensor.values.end(), fits)) {
      return problem({"the tensor ", p.source, " has values that are not finite or absurdly large"});
    }
  }
  for (const auto& [name, tensor] : weights) {
    if (!used.contains(name))
      return problem({"the weights have a tensor that this configuration does not use: ", name});
  }
  return std::nullopt;
}

}  // namespace

std::vector<Parameter> parameters(const NetworkShape& shape) {
  const uint32_t d = shape.width;
  std::vector<Parameter> list;
  const auto vector = [&](const std::string& name, ParameterKind kind, uint32_t n) {
    list.push_back({name, kind, n, 1, name, n, 0});
  };
  const auto part = [&](const std::string& name, const std::string& source, uint32_t rows, uint32_t cols, uint32_t of,
                        uint32_t first) {
    list.push_back({name + ".weight", ParameterKind::kMatrix, rows, cols, source + ".weight", of, first});
    list.push_back({name + ".bias", ParameterKind::kBias, rows, 1, source + ".bias", of, first});
  };
  const auto linear = [&](const std::string& name, uint32_t rows, uint32_t cols) {
    part(name, name, rows, cols, rows, 0);
  };
  const auto norm = [&](const std::string& name) {
    vector(name + ".g", ParameterKind::kGain, d);
    vector(name + ".b", ParameterKind::kBias, d);
  };
  const auto attention = [&](const std::string& name, bool cross) {
    const std::string stack = name + (cross ? ".kv" : ".qkv");
    const uint32_t stacked = cross ? 2 * d : 3 * d;
    if (cross) {
      linear(name + ".q", d, d);
    } else {
      part(name + ".q", stack, d, d, stacked, 0);
    }
    part(name + ".k", stack, d, d, stacked, stacked - 2 * d);
    part(name + ".v", stack, d, d, stacked, stacked - d);
    linear(name + ".out", d, d);
    vector(name + ".b", ParameterKind::kHead, shape.heads);
    vector(name + ".delta", ParameterKind::kDelta, shape.heads);
  };
  const auto layer = [&](const std::string& name, bool cross) {
    norm(name + ".self_norm");
    attention(name + ".self_attn", false);
    if (cross) norm(name + ".cross_norm");
    if (cross) attention(name + ".cross_attn", true);
    norm(name + ".ffn_norm");
    linear(name + ".ffn.w1", shape.ffn, d);
    linear(name + ".ffn.w2", d, shape.ffn);
  };
  list.push_back(
      {"embedding.weight", ParameterKind::kMatrix, shape.vocabulary, d, "embedding.weight", shape.vocabulary, 0});
  for (uint32_t i = 0; i < shape.encoder_layers; ++i) layer("encoder." + std::to_string(i), false);
  if (shape.encoder_layers > 0) norm("encoder_norm");
  for (uint32_t i = 0; i < shape.decoder_layers; ++i) layer("decoder." + std::to_string(i), shape.encoder_layers > 0);
  norm("decoder_norm");
  return list;
}

uint64_t float_bytes(const NetworkShape& shape) {
  uint64_t count = 0;
  for (const Parameter& p : parameters(shape)) count += uint64_t{p.rows} * p.cols;
  return count * sizeof(float);
}

QuantizedMatrix quantize_matrix(const float* w, uint32_t rows, uint32_t cols) {
  std::vector<double> scales(rows, 0.0);  // 0: a row without weights
  double least = std::numeric_limits<double>::infinity();
  for (uint32_t j = 0; j < rows; ++j) {
    const float* row = w + size_t{j} * cols;
    const float max = max_abs(row, cols);
    if (max == 0) continue;
    scales[j] = best_scale(row, cols, max);
    least = std::min(least, scales[j]);
  }
  QuantizedMatrix matrix;
  matrix.scale = least < std::numeric_limits<double>::infinity() ? static_cast<float>(least * 32767 / 32768) : 1.0f;
  matrix.column.resize(rows);
  matrix.panels.resize(size_t{rows} * cols);
  for (uint32_t j = 0; j < rows; ++j) {
    const double whole = 32768.0 * double{matrix.scale};
    const double column = scales[j] > 0 ? std::clamp(round_away(whole / scales[j]), 1.0, 32767.0) : 32767.0;
    matrix.column[j] = static_cast<uint16_t>(column);
    for (uint32_t k = 0; k < cols; ++k) {
      const double q = quantize_weight(w[size_t{j} * cols + k], whole / column);
      matrix.panels[static_cast<size_t>(panel_index(j, k, cols))] =
          static_cast<uint8_t>(static_cast<int>(q) + kWeightOffset);
    }
  }
  return matrix;
}

Result<AlignedBytes> make_model(Flavour flavour, const NetworkShape& shape, const FloatWeights& weights,
                                std::string_view description, std::string_view vocabulary) {
  if (flavour == Flavour::kInt8 && (shape.attention != AttentionKind::kPolynomial || shape.norm != NormKind::kL1)) {
    return problem({"softmax and L2 norm exist in FP32 only: an INT8 model needs polynomial attention and L1 norm"});
  }
  if (Status bad = check_shape(shape)) return *std::move(bad);
  const std::vector<Parameter> list = parameters(shape);
  if (Status bad = check(weights, list)) return *std::move(bad);
  ModelWriter writer(flavour, shape);
  writer.description(description);
  writer.vocabulary(vocabulary);
  add_rotation(writer, shape.width);
  for (const Parameter& p : list) {
    add_parameter(writer, flavour, p, weights.find(p.source)->second.values.data() + size_t{p.first_row} * p.cols);
  }
  AlignedBytes file = writer.finish();
  if (file.empty()) return problem({"not enough memory for the model file"});
  return file;
}

FloatWeights random_weights(const NetworkShape& shape, uint64_t seed) {
  // A splitmix64 generator; eight of its bytes added up are near enough to a normal distribution (σ = 1 after scaling).
  uint64_t state = seed;
  const auto normal = [&state] {
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    int sum = 0;
    for (int i = 0; i < 8; ++i) sum += static_cast<int>((z >> (8 * i)) & 255);
    return static_cast<float>(sum - 1020) / 209.0f;
  };
  FloatWeights weights;
  for (const Parameter& p : parameters(shape)) {
    const auto [place, fresh] = weights.try_emplace(p.source);
    if (!fresh) continue;
    FloatTensor& tensor = place->second;
    const bool matrix = p.kind == ParameterKind::kMatrix;
    tensor.shape = matrix ? std::vector{p.source_rows, p.cols} : std::vector{p.source_rows};
    tensor.values.resize(size_t{p.source_rows} * p.cols);
    const float spread = matrix                            ? 1 / std::sqrt(static_cast<float>(p.cols))
                         : p.kind == ParameterKind::kDelta ? 0.01f
                                                           : 0.1f;
    const float centre = p.kind == ParameterKind::kGain || p.kind == ParameterKind::kHead ? 1.0f : 0.0f;
    for (float& value : tensor.values) value = centre + spread * normal();
  }
  return weights;
}

}  // namespace octavo
