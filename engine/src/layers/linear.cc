#include "layers/linear.h"

#include <algorithm>

#include "fixed_point.h"

namespace octavo {
namespace {

// One row of products (scale input_scale × layer.scale once multiplied by the column multipliers) plus the bias plus,
// unless it is null, the residual row. All are matched to the smallest scale, the one that cannot overflow.
WideRow write_back(const Workspace& work, const Linear& layer, const int32_t* products, int32_t max, float input_scale,
                   const int8_t* residual, float residual_scale, Nonlinearity nonlinearity) {
  const int n = static_cast<int>(layer.outputs);
  const int shift = narrowing_shift(max);
  const float product_scale = held_scale(scaled_shift(input_scale * layer.scale, shift));
  const float wide_residual_scale = residual_scale * 64.0f;  // INT8 residuals enter shifted left by 6
  float scale = std::min(product_scale, layer.bias_scale);
  if (residual != nullptr) scale = std::min(scale, wide_residual_scale);
  const WriteBack how = {
      .shift = shift,
      .column = layer.column,
      .m = ratio_q15(scale, product_scale),
      .bias = layer.bias,
      .m_bias = ratio_q15(scale, layer.bias_scale),
      .residual = residual,
      .m_residual = residual != nullptr ? ratio_q15(scale, wide_residual_scale) : 0,
      .nonlinearity = nonlinearity,
  };
  const int32_t wide_max = work.kernel->write_back(products, how, work.wide, n);
  return {work.wide, scale, wide_max};
}

// Multiplies in blocks of rows and hands each row of products, with its maximum, to `use`.
template <class Use>
void for_each_product_row(const Workspace& work, const Linear& layer, const ScaledRows& x, int rows, Use&& use) {
  const int inputs = static_cast<int>(layer.inputs), outputs = static_cast<int>(layer.outputs);
  for (int first = 0; first < rows; first += kRowBlock) {
    const int count = std::min(kRowBlock, rows - first);
    work.kernel->product(x.row(first), layer.panels, work.products, count, inputs, outputs, work.packed, work.maxima);
    for (int i = 0; i < count; ++i) {
      use(first + i, work.products + static_cast<int64_t>(i) * outputs, work.maxima[i]);
    }
  }
}

}  // namespace

void rescale(const Kernel& kernel, const WideRow& wide, int width, int8_t* x, float* s) {
  const int32_t m = rescale_multiplier(wide.max, 127);
  kernel.rescale(wide.x, m, x, width);
  *s = scaled_q15(wide.s, m);
}

void linear(const Workspace& work, const Linear& layer, const ScaledRows& x, int rows, Nonlinearity nonlinearity,
            const ScaledRows& out) {
  for_each_product_row(work, layer, x, rows, [&](int i, const int32_t* products, int32_t max) {
    const WideRow wide = write_back(work, layer, products, max, x.s[i], nullptr, 0, nonlinearity);
    rescale(*work.kernel, wide, out.width, out.row(i), &out.s[i]);
  });
}

void linear_residual(const Workspace& work, const Linear& layer, const ScaledRows& x, int rows,
                     const ScaledRows& stream) {
  for_each_product_row(work, layer, x, rows, [&](int i, const int32_t* products, int32_t max) {
    const WideRow wide =
        write_back(work, layer, products, max, x.s[i], stream.row(i), stream.s[i], Nonlinearity::kNone);
    rescale(*work.kernel, wide, stream.width, stream.row(i), &stream.s[i]);
  });
}

}  // namespace octavo
