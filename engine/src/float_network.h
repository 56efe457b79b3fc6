// The weights of the FP32 twin: views into an FP32 model file. The same structure as integer_network.h, in floats.
#pragma once

#include <cstdint>

#include "model_file.h"
#include "network.h"
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

using FloatAttentionWeights = AttentionOf<FloatLinear>;
using FloatEncoderLayerWeights = EncoderLayerOf<FloatLinear, FloatNorm>;
using FloatDecoderLayerWeights = DecoderLayerOf<FloatLinear, FloatNorm>;

struct FloatNetwork : NetworkOf<FloatLinear, FloatNorm> {
  // Views of an FP32 file; the file must outlive them. The error names the missing or misshapen tensor.
  static Result<FloatNetwork> view(const ModelFile& file);
};

}  // namespace octavo
