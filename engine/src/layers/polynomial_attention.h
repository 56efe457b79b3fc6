// Polynomial attention: y = Σ_j Poly(q·k_j/√w)·v_j / Σ_j Poly(q·k_j/√w)
// with Poly(x) = ReLU(x + b)ⁿ + |δ|, all in integers.
#pragma once

#include <cstdint>

#include "integer_network.h"
#include "layers/workspace.h"
#include "scaled_tensor.h"

namespace octavo {

// Scale matching along the keys: one Q15 multiplier per key brings all of them to the smallest scale.
struct MatchedScales {
  uint16_t* match;  // (keys)
  float scale;      // s̄ = min over the keys
};
MatchedScales match_scales(const float* scales, int count, uint16_t* match);

// The keys and values that a query sees: `count` rows of `stride`
// bytes, INT8, one scale per row matched along the rows.
struct KeysValues {
  const int8_t* keys;
  const int8_t* values;
  int stride;
  int count;
  MatchedScales key_scales, value_scales;
};

// One query token, all heads.   query: (width) → out: (width), one scale for all heads.
// alignment, unless null, gets the attention weights summed over heads: (count), each head contributing 255 in all;
// head_weights, unless null, the weights 0..127 themselves: (heads, count).
void attend(const Workspace& work, const AttentionWeights& attention, const NetworkShape& shape, const int8_t* query,
            float query_scale, const KeysValues& seen, int8_t* out, float* out_scale, int32_t* alignment,
            int8_t* head_weights = nullptr);

}  // namespace octavo
