// FP32 weights to a model file, INT8 or FP32. Deterministic: the same weights give the same bytes.
//
// A matrix (N outputs, K inputs) gets one scale per output, s_j = 63 / (clip·max|w_j|), with the clip of a short list
// that loses least. All outputs share `scale` = min s_j·32767/32768 (rounded to float), and a Q15 multiplier per output
// makes up the difference: column_j = round(32768·scale/s_j), 1..32767. Then, exactly, s_j := 32768·scale/column_j, and
// the stored byte is u = clamp(round(w·s_j), ±63) + 64. An output without any weight has column 32767.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model_file.h"
#include "octavo/status.h"

namespace octavo {

struct FloatTensor {
  std::vector<uint32_t> shape;
  std::vector<float> values;  // row-major
};

// By the names of the training code's state_dict, e.g. "encoder.0.self_attn.qkv.weight".
using FloatWeights = std::map<std::string, FloatTensor, std::less<>>;

enum class ParameterKind { kMatrix, kBias, kGain, kHead, kDelta };

// One tensor of a network and where its numbers come from.
struct Parameter {
  std::string name;  // in the model file
  ParameterKind kind;
  uint32_t rows, cols;   // cols is 1 except for matrices
  std::string source;    // in the FP32 weights, which stack q, k, v as "qkv" and k, v of a cross-attention as "kv"
  uint32_t source_rows;  // of all that is stacked there
  uint32_t first_row;    // of this part
};

// All parameters of a network in the order of the forward pass.
std::vector<Parameter> parameters(const NetworkShape& shape);

// Bytes of the same network as plain FP32, without vocabulary and header.
uint64_t float_bytes(const NetworkShape& shape);

struct QuantizedMatrix {
  float scale;
  std::vector<uint16_t> column;  // (rows)
  std::vector<uint8_t> panels;   // packed, see kernels/kernel.h
};
// rows a multiple of 8, cols of 4; |w| <= kRealMax.
QuantizedMatrix quantize_matrix(const float* w, uint32_t rows, uint32_t cols);

// The bytes of a whole file. The error names the tensor that is missing, misshapen, unknown or not finite.
Result<AlignedBytes> make_model(Flavour flavour, const NetworkShape& shape, const FloatWeights& weights,
                                std::string_view description, std::string_view vocabulary);

// Weights of a trained network's magnitudes, for tests and benchmarks of any shape.
FloatWeights random_weights(const NetworkShape& shape, uint64_t seed);

}  // namespace octavo
