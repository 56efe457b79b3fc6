// Networks of well-known shapes with random weights: for measuring, where only the shape matters.
#pragma once

#include <string>
#include <string_view>

#include "model_file.h"
#include "octavo/status.h"

namespace octavo {

// "shipped" (256 wide, 6 + 3 layers), "base" (512, 6 + 6) and "big" (1024, 6 + 6) as in the paper; vocabulary 8000.
NetworkShape benchmark_shape(std::string_view name);

// A whole model file. `vanilla`: softmax attention and L2 norms, FP32 only. It never predicts the end mark nor a
// forbidden piece, so that every translation has exactly the length that its limit allows.
Result<AlignedBytes> random_model(NetworkShape shape, Flavour flavour, bool vanilla, std::string_view vocabulary);

}  // namespace octavo
