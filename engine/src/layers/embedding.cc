#include "layers/embedding.h"

#include <algorithm>
#include <cmath>

#include "fixed_point.h"
#include "layers/linear.h"

namespace octavo {

void position_codes(const IntegerNetwork& network, int length, int8_t* codes) {
  const int width = static_cast<int>(network.shape.width), half = width / 2;
  const auto quantise = [](double v) {
    return static_cast<int8_t>(v < 0 ? -std::floor(0.5 - 127 * v) : std::floor(0.5 + 127 * v));
  };
  for (int i = 0; i < half; ++i) {
    const double turn_cos = network.rotation[2 * i], turn_sin = network.rotation[2 * i + 1];
    double c = 1, s = 0;  // the angle of position 0
    for (int p = 0; p < length; ++p) {
      codes[static_cast<int64_t>(p) * width + i] = quantise(s);
      codes[static_cast<int64_t>(p) * width + half + i] = quantise(c);
      const double next = c * turn_cos - s * turn_sin;
      s = s * turn_cos + c * turn_sin;
      c = next;
    }
  }
}

void embed(const Workspace& work, const IntegerNetwork& network, int32_t token, const int8_t* code, int8_t* out,
           float* out_scale) {
  const Linear& table = network.embedding;
  const int width = static_cast<int>(network.shape.width);
  work.kernel->unpack_row(table.panels, token, width, out);
  // Both become wide rows: 63·2^7 and 127·2^6 fit 13 bits.
  work.kernel->widen(out, 7, work.wide, width);
  work.kernel->widen(code, 6, work.wide2, width);
  const float row_scale = table.scale * (32768.0f / static_cast<float>(table.column[token]));
  const float token_scale = row_scale * 128.0f / std::sqrt(static_cast<float>(width));
  const float code_scale = 127.0f * 64.0f;
  const float scale = std::min(token_scale, code_scale);
  const int32_t max = work.kernel->match_add(work.wide, ratio_q15(scale, token_scale), work.wide2,
                                             ratio_q15(scale, code_scale), work.wide, width);
  rescale(*work.kernel, {work.wide, scale, max}, width, out, out_scale);
}

}  // namespace octavo
