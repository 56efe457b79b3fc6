// L1 layer norm: g ⊙ (x-μ) / (C·mean|x-μ|) + b with C = √(π/2).
#pragma once

#include "integer_network.h"
#include "layers/workspace.h"
#include "scaled_tensor.h"

namespace octavo {

// out = R(L1LN(x)).   x, out: (rows, width); out may not be x.
void l1_norm(const Workspace& work, const Norm& norm, const ScaledRows& x, int rows, const ScaledRows& out);

}  // namespace octavo
