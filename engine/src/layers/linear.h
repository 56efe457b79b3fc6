// y = x·Wᵀ + b on scaled rows: an exact INT32 product, then one pass that matches scales and one that re-scales.
#pragma once

#include "integer_network.h"
#include "layers/workspace.h"
#include "scaled_tensor.h"

namespace octavo {

// out = R(x·Wᵀ + b), or R(ReLU(x·Wᵀ + b)).   x: (rows, inputs) → out: (rows, outputs)
void linear(const Workspace& work, const Linear& layer, const ScaledRows& x, int rows, Nonlinearity nonlinearity,
            const ScaledRows& out);

// stream = R(stream + x·Wᵀ + b): the residual connection, added before the sum is re-scaled.   stream: (rows, outputs)
void linear_residual(const Workspace& work, const Linear& layer, const ScaledRows& x, int rows,
                     const ScaledRows& stream);

// R: a wide row to INT8 with its new scale.
void rescale(const Kernel& kernel, const WideRow& wide, int width, int8_t* x, float* s);

}  // namespace octavo
