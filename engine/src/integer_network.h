// The weights of an Integer Transformer: views into the model file, in the order the forward pass uses them.
// Tensor names and their derivation from FP32 weights are in tools/quantize; shapes are (outputs, inputs).
#pragma once

#include <cstdint>

#include "model_file.h"
#include "network.h"
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

using AttentionWeights = AttentionOf<Linear>;
using EncoderLayerWeights = EncoderLayerOf<Linear, Norm>;
using DecoderLayerWeights = DecoderLayerOf<Linear, Norm>;

struct IntegerNetwork : NetworkOf<Linear, Norm> {
  // Views of an INT8 file; the file must outlive them. The error names the missing or misshapen tensor.
  static Result<IntegerNetwork> view(const ModelFile& file);
};

}  // namespace octavo
