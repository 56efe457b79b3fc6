// The weights of the reference transformer: each linear map and norm in integers of any precision
// and, for the modules that an ablation leaves in FP32, in floats.
#pragma once

#include <cstdint>
#include <vector>

#include "float_network.h"
#include "integer_network.h"
#include "scale_propagation.h"

namespace octavo {

// The parts of a network that can be computed in integers or in FP32 independently, as the paper names them.
enum Module : uint32_t {
  kEmbedding = 1,
  kAttention = 2,
  kFeedForward = 4,
  kLayerNorm = 8,
  kResidual = 16,
  kProjection = 32,
};
constexpr uint32_t kAllModules = 63;

struct ReferenceOptions {
  // Mode, bits of activations, granularity of the encoder's scales.
  ScalePropagation arithmetic = {};
  int weight_bits = 7;             // 6..10; the weights of an INT8 file have 7
  uint32_t modules = kAllModules;  // in integers; others need FP32 weights
  // One scale for a whole matrix (but for each row of the embedding) instead of one per output. The paper leaves open
  // which it means, and its formulas match scales that differ by very little at the price of up to a bit.
  bool matrix_scales = false;
};

struct ReferenceLinear {
  ScaledMatrix weight;  // (outputs, inputs)
  ScaledTensor bias;    // (1, outputs); the embedding has none
  FloatLinear real;
};

struct ReferenceNorm {
  ScaledTensor gain, bias;  // (1, width)
  FloatNorm real;
};

struct ReferenceAttention {
  ReferenceLinear q, k, v, out;
  const float *b, *delta;  // (heads)
};

struct ReferenceLayer {
  ReferenceNorm self_norm;
  ReferenceAttention self_attn;
  ReferenceNorm cross_norm;  // decoder of an encoder-decoder only
  ReferenceAttention cross_attn;
  ReferenceNorm ffn_norm;
  ReferenceLinear w1, w2;
};

struct ReferenceNetwork {
  NetworkShape shape;
  ReferenceLinear embedding;
  const double* rotation;  // as in float_network.h
  std::vector<ReferenceLayer> encoder;
  ReferenceNorm encoder_norm;
  std::vector<ReferenceLayer> decoder;
  ReferenceNorm decoder_norm;
};

// Quantises on the fly. In fixed-point arithmetic by the rules of quantizer.h, for any number of
// bits; in paper arithmetic to the letter, s = (2^p - 1) / max|r| for every row and vector.
ReferenceNetwork reference_network(const FloatNetwork& from, const ReferenceOptions& options);
// The integers of an INT8 file. Vectors are quantised anew in paper arithmetic, which has no 13-bit operands.
ReferenceNetwork reference_network(const IntegerNetwork& from, const ReferenceOptions& options);

}  // namespace octavo
