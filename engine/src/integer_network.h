// The weights of an Integer Transformer: views into the model file, in the order the forward pass uses them.
// Tensor names and their derivation from FP32 weights are in tools/quantize; shapes are (outputs, inputs).
#pragma once

#include <cstdint>
#include <vector>

#include "model_file.h"
#include "octavo/status.h"

namespace octavo {

// y = x·Wᵀ + b. W is INT8 with one scale per output: w[j] stands for (u - 64) / (scale · 32768 / column[j]), that is,
// products of output j multiplied by column[j]/2^15 all have the one scale `scale`.
struct Linear {
  uint32_t outputs, inputs;
  const uint8_t* panels;   // "<name>.weight"  kPanel7 (outputs, inputs), its entry's scale is `scale`
  const uint16_t* column;  // "<name>.column"  kMultiplier (outputs, 1)
  float scale;
  const int16_t* bias;  // "<name>.bias"  kInt16 (outputs, 1), |x| <= 8191
  float bias_scale;
};

struct Norm {
  const int16_t* gain;  // "<name>.g"  kInt16 (width, 1), |x| <= 32767
  float gain_scale;
  const int16_t* bias;  // "<name>.b"  kInt16 (width, 1), |x| <= 8191
  float bias_scale;
};

// Four separate projections, "<name>.q", ".k", ".v", ".out", each (width, width): a scale of their own for queries,
// keys and values. (The FP32 weights of a training run hold q, k, v stacked as "qkv", and k, v of a cross-attention as
// "kv"; quantising splits their rows.)
struct AttentionWeights {
  Linear q, k, v, out;
  const float* b;      // "<name>.b" kFloat32 (heads, 1)
  const float* delta;  // "<name>.delta" kFloat32 (heads, 1), already |δ|
};

struct EncoderLayerWeights {
  Norm self_norm;
  AttentionWeights self_attn;
  Norm ffn_norm;
  Linear w1, w2;  // "<layer>.ffn.w1", "<layer>.ffn.w2"
};

struct DecoderLayerWeights {
  Norm self_norm;
  AttentionWeights self_attn;
  Norm cross_norm;  // encoder-decoder only
  AttentionWeights cross_attn;
  Norm ffn_norm;
  Linear w1, w2;
};

struct IntegerNetwork {
  NetworkShape shape;
  Linear embedding;  // "embedding" (vocabulary, width), no bias; input rows and output projection alike
  const double*
      rotation;  // "positions.rotation" kFloat64 (width/2, 2): cos and sin of each frequency's angle per token
  std::vector<EncoderLayerWeights> encoder;  // "encoder.<i>"
  Norm encoder_norm;                         // "encoder_norm"
  std::vector<DecoderLayerWeights> decoder;  // "decoder.<i>"
  Norm decoder_norm;                         // "decoder_norm"

  // Views of an INT8 file; the file must outlive them. The error names the missing or misshapen tensor.
  static Result<IntegerNetwork> view(const ModelFile& file);
};

}  // namespace octavo
