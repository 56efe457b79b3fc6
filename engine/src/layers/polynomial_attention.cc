#include "layers/polynomial_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fixed_point.h"
#include "layers/linear.h"

namespace octavo {
namespace {

constexpr int32_t kDeltaMax = 1 << 30;

// round(value), halves away from zero. Range: |value| < 2^30.
int32_t to_integer(float value) { return static_cast<int32_t>(value < 0 ? value - 0.5f : value + 0.5f); }

// |δ| at the scale sⁿ of the powers it is added to. Held at 2^30, far above the powers (127³ < 2^21, 127⁴ < 2^28): a
// |δ| beyond that makes all weights alike, and so does this one.
int32_t delta_at(float delta, float scale, int degree) {
  if (delta == 0.0f) return 0;
  float value = degree == 5 ? delta / 128.0f : delta;  // the kernel's fifth power is shifted right by 7
  for (int d = 0; d < degree; ++d) value *= scale;
  return value < static_cast<float>(kDeltaMax) ? to_integer(value) : kDeltaMax;
}

// What one head says: sums over the values (head width), the largest of them and the scale that they share.
struct HeadSums {
  int32_t max;
  float scale;
};

// Poly and the weighted sum of one head. sums: (head width).
HeadSums attend_head(const Workspace& work, float b, float delta, int degree, const int8_t* query, float query_scale,
                     const int8_t* keys, const int8_t* values, int head_width, const KeysValues& seen, int32_t* sums) {
  const Kernel& kernel = *work.kernel;
  const int count = seen.count;
  // Scores, matched along the keys: {q·k_j, s_q·s̄_k·√w}.
  const int score_shift = narrowing_shift(kernel.scores(query, keys, seen.stride, count, head_width, work.scores));
  const float score_scale = held_scale(
      scaled_shift(query_scale * seen.key_scales.scale * std::sqrt(static_cast<float>(head_width)), score_shift));
  // ReLU(score + b): b becomes an integer at the smaller of both scales, of 13 bits at most.
  const float shifted_scale =
      b == 0.0f ? score_scale : std::min(score_scale, static_cast<float>(kWideMax) / std::fabs(b));
  const int32_t top =
      kernel.shifted_relu(work.scores, score_shift, seen.key_scales.match, ratio_q15(shifted_scale, score_scale),
                          to_integer(b * shifted_scale), work.wide, count);
  // R to 0..127, then the power. If no key passed the ReLU, Poly is the same for all: a simple average.
  const int32_t to_int8 = rescale_multiplier(top, 127);
  kernel.rescale(work.wide, to_int8, work.weights, padded_keys(count));
  const int32_t delta_int = top == 0 ? 1 : delta_at(delta, scaled_q15(shifted_scale, to_int8), degree);
  // No search for the largest power: it is that of the largest number.
  const int power_shift = narrowing_shift(polynomial_power(multiply_q15(top, to_int8), degree) + delta_int);
  // Weights matched along the values, R to 0..127. `total` is Σ Poly
  // at the scale before R: dividing by it only moves the scale.
  int32_t total = 0;
  const int32_t max =
      kernel.weigh(work.weights, degree, delta_int, power_shift, seen.value_scales.match, work.wide, &total, count);
  const int32_t m = rescale_multiplier(max, 127);
  kernel.rescale(work.wide, m, work.weights, padded_keys(count));
  const int32_t max_sum = kernel.weighted_sum(work.weights, values, seen.stride, count, head_width, sums);
  return {max_sum, scaled_q15(seen.value_scales.scale * static_cast<float>(total), m)};
}

// Adds 255·w_j/Σw to the alignment. Range: w <= 127 and Σw >= 1.
void add_alignment(const int8_t* weights, int count, int32_t* alignment) {
  int32_t sum = 0;
  for (int j = 0; j < count; ++j) sum += weights[j];
  if (sum == 0) return;
  for (int j = 0; j < count; ++j) alignment[j] += (255 * weights[j] + sum / 2) / sum;
}

}  // namespace

MatchedScales match_scales(const float* scales, int count, uint16_t* match) {
  float smallest = scales[0];
  for (int j = 1; j < count; ++j) smallest = std::min(smallest, scales[j]);
  for (int j = 0; j < count; ++j) match[j] = static_cast<uint16_t>(ratio_q15(smallest, scales[j]));
  return {match, smallest};
}

void attend(const Workspace& work, const AttentionWeights& attention, const NetworkShape& shape, const int8_t* query,
            float query_scale, const KeysValues& seen, int8_t* out, float* out_scale, int32_t* alignment,
            int8_t* head_weights) {
  const Kernel& kernel = *work.kernel;
  const int heads = static_cast<int>(shape.heads), width = static_cast<int>(shape.width), head_width = width / heads;
  constexpr float kNone = std::numeric_limits<float>::max();
  float scale = kNone;
  if (alignment != nullptr) std::fill(alignment, alignment + seen.count, 0);
  for (int h = 0; h < heads; ++h) {
    const int first = h * head_width;
    int32_t* sums = work.head_sums + first;
    const HeadSums head =
        attend_head(work, attention.b[h], attention.delta[h], static_cast<int>(shape.degree), query + first,
                    query_scale, seen.keys + first, seen.values + first, head_width, seen, sums);
    if (alignment != nullptr) add_alignment(work.weights, seen.count, alignment);
    if (head_weights != nullptr) std::copy_n(work.weights, seen.count, head_weights + h * seen.count);
    // Each head to a wide row of its own scale; a head of zeros has no say in the scale that all will share.
    work.head_shifts[h] = narrowing_shift(head.max);
    work.head_scales[h] = head.max == 0 ? kNone : scaled_shift(head.scale, work.head_shifts[h]);
    scale = std::min(scale, work.head_scales[h]);
  }
  // Concatenation: match the heads, then R.
  int32_t max = 0;
  for (int h = 0; h < heads; ++h) {
    const int first = h * head_width;
    max = std::max(max, kernel.narrow(work.head_sums + first, work.head_shifts[h],
                                      ratio_q15(scale, work.head_scales[h]), work.wide + first, head_width));
  }
  rescale(kernel, {work.wide, scale == kNone ? 1.0f : scale, max}, width, out, out_scale);
}

}  // namespace octavo
