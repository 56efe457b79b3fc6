// The weights of the FP32 twin: views into an FP32 model file. The same structure as integer_network.h, in floats.
#pragma once

#include <cstdint>
#include <vector>

#include "model_file.h"
#include "octavo/status.h"

namespace octavo {

// y = x·Wᵀ + b.
struct FloatLinear {
  uint32_t outputs, inputs;
  const float* panels;  // "<name>.weight"  kPanelFloat (outputs, inputs): [outputs/8][inputs][8]
  const float* bias;    // "<name>.bias"  kFloat32 (outputs, 1)
};

struct FloatNorm {
  const float* g;  // "<name>.g"  kFloat32 (width, 1)
  const float* b;  // "<name>.b"  kFloat32 (width, 1)
};

// "<name>.q", ".k", ".v", ".out", each (width, width).
struct FloatAttentionWeights {
  FloatLinear q, k, v, out;
  const float* b;      // "<name>.b"  kFloat32 (heads, 1); unused by softmax attention
  const float* delta;  // "<name>.delta"  kFloat32 (heads, 1), already |δ|; unused by softmax attention
};

struct FloatEncoderLayerWeights {
  FloatNorm self_norm;
  FloatAttentionWeights self_attn;
  FloatNorm ffn_norm;
  FloatLinear w1, w2;  // "<layer>.ffn.w1", "<layer>.ffn.w2"
};

struct FloatDecoderLayerWeights {
  FloatNorm self_norm;
  FloatAttentionWeights self_attn;
  FloatNorm cross_norm;  // encoder-decoder only
  FloatAttentionWeights cross_attn;
  FloatNorm ffn_norm;
  FloatLinear w1, w2;
};

struct FloatNetwork {
  NetworkShape shape;
  FloatLinear embedding;  // "embedding" (vocabulary, width), no bias; input rows and output projection alike
  const double*
      rotation;  // "positions.rotation" kFloat64 (width/2, 2): cos and sin of each frequency's angle per token
  std::vector<FloatEncoderLayerWeights> encoder;  // "encoder.<i>"
  FloatNorm encoder_norm;                         // "encoder_norm"
  std::vector<FloatDecoderLayerWeights> decoder;  // "decoder.<i>"
  FloatNorm decoder_norm;                         // "decoder_norm"

  // Views of an FP32 file; the file must outlive them. The error names the missing or misshapen tensor.
  static Result<FloatNetwork> view(const ModelFile& file);
};

}  // namespace octavo
