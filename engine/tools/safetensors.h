// Reads weights in the safetensors format: a 64-bit header length, a JSON header, then the tensors' bytes.
#pragma once

#include <string>
#include <string_view>

#include "octavo/status.h"
#include "quantizer.h"

namespace octavo {

// All tensors of a file as FP32 (stored as F32, F16 or BF16).
// The file is checked in full before anything is read from it.
Result<FloatWeights> read_safetensors(const std::string& path);
Result<FloatWeights> parse_safetensors(std::string_view bytes);

}  // namespace octavo
