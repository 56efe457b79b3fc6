// Random cases for every function of a kernel, compared with the reference: for the tests, which draw them from a
// random generator, and for the fuzzer, which draws them from its input.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "fixed_point.h"
#include "kernels/kernel.h"

namespace octavo {

// Random has uniform(low, high), both included.
template <class Random>
class KernelCases {
 public:
  KernelCases(const Kernel& kernel, Random random) : fast_(kernel), random_(random) {}

  // Whether all cases so far gave the bits of the reference.
  bool equal() const { return equal_; }

  void product() {
    const int m = uniform(0, 50) == 0 ? uniform(60, 130) : uniform(1, 9), k = width(), n = width();
    const auto a = values<int8_t>(m * k, -127, 127);
    const auto u = values<uint8_t>(k * n, 1, 127);
    std::vector<int32_t> expected(static_cast<size_t>(m * n)), got(expected);
    std::vector<int16_t> scratch(static_cast<size_t>(m * k));
    std::vector<int32_t> max(static_cast<size_t>(m)), max_got(max);
    slow_.product(a.data(), u.data(), expected.data(), m, k, n, scratch.data(), max.data());
    fast_.product(a.data(), u.data(), got.data(), m, k, n, scratch.data(), max_got.data());
    same(expected, got);
    same(max, max_got);
    std::vector<int8_t> row(static_cast<size_t>(k)), row_got(row);
    const int j = uniform(0, n - 1);
    slow_.unpack_row(u.data(), j, k, row.data());
    fast_.unpack_row(u.data(), j, k, row_got.data());
    same(row, row_got);
  }

  void write_back() {
    const int n = width();
    const auto acc = values<int32_t>(n, -(1 << 26), 1 << 26);
    const auto column = multipliers(n);
    const auto bias = values<int16_t>(n, -kWideMax, kWideMax);
    const auto residual = values<int8_t>(n, -127, 127);
    const bool with_residual = uniform(0, 1) != 0;
    const WriteBack how = {narrowing_shift(max_abs(acc)),
                           column.data(),
                           multiplier(),
                           bias.data(),
                           multiplier(),
                           with_residual ? residual.data() : nullptr,
                           multiplier(),
                           !with_residual && uniform(0, 1) != 0 ? Nonlinearity::kRelu : Nonlinearity::kNone};
    std::vector<int16_t> expected(static_cast<size_t>(n)), got(expected);
    const int32_t max = slow_.write_back(acc.data(), how, expected.data(), n);
    same(max, fast_.write_back(acc.data(), how, got.data(), n));
    same(expected, got);
    same(true, max <= 3 * kWideMax);
  }

  void match_add_and_rescale() {
    const int n = width(), m_a = multiplier(), m_b = multiplier();
    const auto a = values<int16_t>(n, -kWideMax, kWideMax), b = values<int16_t>(n, -kWideMax, kWideMax);
    std::vector<int16_t> expected(static_cast<size_t>(n)), got(expected);
    const int32_t max = slow_.match_add(a.data(), m_a, b.data(), m_b, expected.data(), n);
    same(max, fast_.match_add(a.data(), m_a, b.data(), m_b, got.data(), n));
    same(expected, got);
    const int32_t m = rescale_multiplier(max, 127);
    std::vector<int8_t> expected8(static_cast<size_t>(n)), got8(expected8);
    slow_.rescale(expected.data(), m, expected8.data(), n);
    fast_.rescale(expected.data(), m, got8.data(), n);
    same(expected8, got8);
    for (const int8_t x : got8) same(true, std::abs(x) <= 127);
  }

  void widen() {
    const int n = width(), shift = uniform(0, 7);
    const auto x = values<int8_t>(n, -63, 63);
    std::vector<int16_t> expected(static_cast<size_t>(n)), got(expected);
    slow_.widen(x.data(), shift, expected.data(), n);
    fast_.widen(x.data(), shift, got.data(), n);
    same(expected, got);
  }

  void centre_and_gain() {
    const int n = width();
    const auto x = values<int8_t>(n, -127, 127);
    const auto g = values<int16_t>(n, -32767, 32767);
    std::vector<int32_t> expected(static_cast<size_t>(n)), got(expected);
    const int32_t max = slow_.centre(x.data(), expected.data(), n);
    same(max, fast_.centre(x.data(), got.data(), n));
    same(expected, got);
    std::vector<int16_t> expected16(static_cast<size_t>(n)), got16(expected16);
    const int shift = narrowing_shift(max);
    same(slow_.gain(expected.data(), shift, g.data(), expected16.data(), n),
         fast_.gain(expected.data(), shift, g.data(), got16.data(), n));
    same(expected16, got16);
  }

  void scores_and_weighted_sum() {
    const int width = 8 * uniform(1, 16), count = keys(), stride = width * uniform(1, 4);
    const auto q = values<int8_t>(width, -127, 127);
    const auto rows = values<int8_t>(count * stride, -127, 127);
    std::vector<int8_t> w = values<int8_t>(count, 0, 127);
    w.resize(static_cast<size_t>(padded_keys(count)));
    std::vector<int32_t> expected(w.size()), got(expected);
    same(slow_.scores(q.data(), rows.data(), stride, count, width, expected.data()),
         fast_.scores(q.data(), rows.data(), stride, count, width, got.data()));
    expected.resize(static_cast<size_t>(count));
    got.resize(static_cast<size_t>(count));
    same(expected, got);
    expected.assign(static_cast<size_t>(width), 0);
    got = expected;
    same(slow_.weighted_sum(w.data(), rows.data(), stride, count, width, expected.data()),
         fast_.weighted_sum(w.data(), rows.data(), stride, count, width, got.data()));
    same(expected, got);
  }

  void polynomial_weights() {
    const int count = keys(), degree = uniform(1, 5);
    const auto x = values<int32_t>(count, -(1 << 20), 1 << 20);
    const auto match = padded(multipliers(count));
    const std::vector<int32_t> scores = padded(x);
    std::vector<int16_t> expected(match.size()), got(match.size());
    const int shift = narrowing_shift(max_abs(x)), m = multiplier(), b = uniform(-kWideMax, kWideMax);
    const int32_t top = slow_.shifted_relu(scores.data(), shift, match.data(), m, b, expected.data(), count);
    same(top, fast_.shifted_relu(scores.data(), shift, match.data(), m, b, got.data(), count));
    same(expected, got);
    std::vector<int8_t> v(match.size());
    const int32_t to_int8 = rescale_multiplier(top, 127);
    slow_.rescale(expected.data(), to_int8, v.data(), padded_keys(count));
    const int32_t delta = uniform(0, 3) == 0 ? 1 << 30 : uniform(0, 5000);
    // The largest power is that of the largest number, which the attention relies on.
    const int32_t max = polynomial_power(multiply_q15(top, to_int8), degree) + delta;
    int32_t largest = 0;
    for (int j = 0; j < count; ++j) largest = std::max(largest, polynomial_power(v[static_cast<size_t>(j)], degree));
    same(max, largest + delta);
    int32_t sum = 0, sum_got = 0;
    same(slow_.weigh(v.data(), degree, delta, narrowing_shift(max), match.data(), expected.data(), &sum, count),
         fast_.weigh(v.data(), degree, delta, narrowing_shift(max), match.data(), got.data(), &sum_got, count));
    same(expected, got);
    same(sum, sum_got);
  }

  void narrow_and_logits() {
    const int n = width();
    const auto x = values<int32_t>(n, -(1 << 21), 1 << 21);
    const auto column = values<uint16_t>(n, 1, 32767);
    std::vector<int16_t> expected(static_cast<size_t>(n)), got(expected);
    const int shift = narrowing_shift(max_abs(x)), m = multiplier();
    same(slow_.narrow(x.data(), shift, m, expected.data(), n), fast_.narrow(x.data(), shift, m, got.data(), n));
    same(expected, got);
    std::vector<int32_t> logits(static_cast<size_t>(n)), logits_got(logits);
    same(slow_.logits(x.data(), 7, column.data(), logits.data(), n),
         fast_.logits(x.data(), 7, column.data(), logits_got.data(), n));
    same(logits, logits_got);
  }

  // All functions above, for those who go through them.
  static constexpr void (KernelCases::* kAll[])() = {&KernelCases::product,
                                                     &KernelCases::write_back,
                                                     &KernelCases::match_add_and_rescale,
                                                     &KernelCases::widen,
                                                     &KernelCases::centre_and_gain,
                                                     &KernelCases::scores_and_weighted_sum,
                                                     &KernelCases::polynomial_weights,
                                                     &KernelCases::narrow_and_logits};

 private:
  int uniform(int low, int high) { return random_.uniform(low, high); }

  // Random integers in ±limit: uniform, tiny, all zero, only extremes, or mostly zero.
  template <class T>
  std::vector<T> values(int count, int low, int high) {
    std::vector<T> result(static_cast<size_t>(count));
    const int style = uniform(0, 5);
    for (T& x : result) {
      const int extreme = uniform(0, 1) != 0 ? high : low;
      switch (style) {
        case 0:
          x = static_cast<T>(std::clamp(0, low, high));
          break;
        case 1:
          x = static_cast<T>(extreme);
          break;
        case 2:
          x = static_cast<T>(std::clamp(uniform(-2, 2), low, high));
          break;
        case 3:
          x = static_cast<T>(uniform(0, 20) == 0 ? extreme : std::clamp(0, low, high));
          break;
        default:
          x = static_cast<T>(uniform(low, high));
      }
    }
    return result;
  }
  static int32_t max_abs(const std::vector<int32_t>& x) {
    int32_t max = 0;
    for (const int32_t v : x) max = std::max(max, std::abs(v));
    return max;
  }
  // An array over the keys of an attention: behind them something that must not matter.
  template <class T>
  static std::vector<T> padded(std::vector<T> x) {
    x.resize(static_cast<size_t>(padded_keys(static_cast<int>(x.size()))), static_cast<T>(12345));
    return x;
  }
  std::vector<uint16_t> multipliers(int count) { return values<uint16_t>(count, 0, 32767); }
  int multiplier() { return uniform(0, 3) == 0 ? kOneQ15 : uniform(0, 32767); }
  int width() { return 16 * uniform(1, uniform(0, 20) == 0 ? 64 : 12); }
  int keys() { return uniform(0, 30) == 0 ? 1000 : uniform(1, 70); }

  template <class T>
  void same(const T& expected, const T& got) {
    equal_ = equal_ && expected == got;
  }

  const Kernel& fast_;
  const Kernel& slow_ = kReferenceKernel;
  Random random_;
  bool equal_ = true;
};

}  // namespace octavo
