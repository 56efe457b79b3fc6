// The structure of the network's weights, whatever a linear map and a norm are made of: views into a model file, in the
// order of the forward pass. Names in quotes are those of the file's tensors; shapes are (outputs, inputs).
#pragma once

#include <vector>

#include "model_file.h"

namespace octavo {

// Four separate projections, "<name>.q", ".k", ".v", ".out", each (width, width): a scale of their own for queries,
// keys and values. (The FP32 weights of a training run hold q, k, v stacked as "qkv", and k, v of a cross-attention as
// "kv"; quantising splits their rows.)
template <class Linear>
struct AttentionOf {
  Linear q, k, v, out;
  const float* b;      // "<name>.b"  kFloat32 (heads, 1); unused by softmax attention
  const float* delta;  // "<name>.delta"  kFloat32 (heads, 1), already |δ|; unused by softmax attention
};

template <class Linear, class Norm>
struct EncoderLayerOf {
  Norm self_norm;
  AttentionOf<Linear> self_attn;
  Norm ffn_norm;
  Linear w1, w2;  // "<layer>.ffn.w1", "<layer>.ffn.w2"
};

template <class Linear, class Norm>
struct DecoderLayerOf {
  Norm self_norm;
  AttentionOf<Linear> self_attn;
  Norm cross_norm;  // encoder-decoder only
  AttentionOf<Linear> cross_attn;
  Norm ffn_norm;
  Linear w1, w2;
};

template <class Linear, class Norm>
struct NetworkOf {
  NetworkShape shape;
  Linear embedding;        // "embedding" (vocabulary, width), no bias; input rows and output projection alike
  const double* rotation;  // "positions.rotation"  kFloat64 (width/2, 2): cos, sin of each frequency's angle per token
  std::vector<EncoderLayerOf<Linear, Norm>> encoder;  // "encoder.<i>"
  Norm encoder_norm;                                  // "encoder_norm"
  std::vector<DecoderLayerOf<Linear, Norm>> decoder;  // "decoder.<i>"
  Norm decoder_norm;                                  // "decoder_norm"
};

}  // namespace octavo
