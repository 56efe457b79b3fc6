// What went on inside the network while it translated one sentence: for people who want to see fully-integer inference.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace octavo {

// A place that the residual stream passes. Its rows are INT8 with one scale each: a value is x / scale.
struct Station {
  bool decoder;               // encoder otherwise
  int layer;                  // 0 for what comes before and after the layers
  const char* name;           // "embedding", then in each layer "attention", "cross", "ffn"; at the end "norm"
  std::vector<float> scales;  // one per source piece in the encoder, one per target piece in the decoder
};

// The cross-attention of one head: the integers 0..127 that multiply the values of the source.
struct AttentionHead {
  int layer, head;
  std::vector<int8_t> weights;  // (target pieces, source pieces)
};

struct Inspection {
  std::vector<std::string> source, target;  // pieces, the end mark included
  std::vector<Station> stations;            // in the order of the forward pass
  std::vector<AttentionHead> attention;
};

}  // namespace octavo
