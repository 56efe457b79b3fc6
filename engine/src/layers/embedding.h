// Token embedding × √width plus sinusoidal position, as scaled rows.
#pragma once

#include "integer_network.h"
#include "layers/workspace.h"
#include "scaled_tensor.h"

namespace octavo {

// Position codes round(127·sin), round(127·cos) for positions 0..length-1: (length, width), scale 127. Made by repeated
// rotation, with additions and multiplications only, so that every platform gets the same integers.
void position_codes(const IntegerNetwork& network, int length, int8_t* codes);

// out = R(√width·E[token] + code).   code: (width)
void embed(const Workspace& work, const IntegerNetwork& network, int32_t token, const int8_t* code, int8_t* out,
           float* out_scale);

}  // namespace octavo
