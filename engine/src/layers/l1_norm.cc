#include "layers/l1_norm.h"

#include <algorithm>

#include "fixed_point.h"
#include "layers/linear.h"

namespace octavo {

// With c = n·x - Σx the normalised value is n·c / (C·Σ|c|): the input's scale cancels, and so would any shift of c.
// Dividing by Σ|c| is a matter of the scale alone, so no element is ever divided:
//   { narrow(c)·g, C·Σ|narrow(c)| / n · s_g/2^15 }   then + b by scale matching, then R.
void l1_norm(const Workspace& work, const Norm& norm, const ScaledRows& x, int rows, const ScaledRows& out) {
  constexpr float kC = 1.2533141373155001f;  // √(π/2)
  const int n = x.width;
  const Kernel& kernel = *work.kernel;
  for (int i = 0; i < rows; ++i) {
    const int shift = narrowing_shift(kernel.centre(x.row(i), work.products, n));
    const int32_t sum = kernel.gain(work.products, shift, norm.gain, work.wide, n);
    // A constant row has c = 0 and b as its output: any scale does that does not become the smaller of both.
    const float deviation = kC * static_cast<float>(sum > 0 ? sum : n * kWideMax) / static_cast<float>(n);
    const float gain_scale = deviation * (norm.gain_scale * (1.0f / 32768.0f));
    const float scale = std::min(gain_scale, norm.bias_scale);
    const int32_t max = kernel.match_add(work.wide, ratio_q15(scale, gain_scale), norm.bias,
                                         ratio_q15(scale, norm.bias_scale), work.wide2, n);
    rescale(kernel, {work.wide2, scale, max}, n, out.row(i), &out.s[i]);
  }
}

}  // namespace octavo
