// Every kernel gives the bits of the reference: over 10,000 random shapes and contents, extremes included.
#include "kernels/kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "fixed_point.h"

namespace octavo {
namespace {

constexpr int kRounds = 1000;  // times twelve functions times two kernels

class KernelTest : public testing::TestWithParam<const Kernel*> {
 protected:
  int uniform(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

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
  std::vector<uint16_t> multipliers(int count) { return values<uint16_t>(count, 0, 32767); }
  int multiplier() { return uniform(0, 3) == 0 ? kOneQ15 : uniform(0, 32767); }
  int width() { return 16 * uniform(1, uniform(0, 20) == 0 ? 64 : 12); }
  int keys() { return uniform(0, 30) == 0 ? 1000 : uniform(1, 70); }

  const Kernel& fast() { return *GetParam(); }
  const Kernel& slow() { return kReferenceKernel; }
  std::mt19937 random_{7};
};

TEST_P(KernelTest, Product) {
  for (int round = 0; round < kRounds; ++round) {
    const int m = uniform(0, 50) == 0 ? uniform(60, 130) : uniform(1, 9), k = width(), n = width();
    const auto a = values<int8_t>(m * k, -127, 127);
    const auto u = values<uint8_t>(k * n, 1, 127);
    std::vector<int32_t> expected(static_cast<size_t>(m * n)), got(expected);
    std::vector<int16_t> scratch(static_cast<size_t>(m * k));
    slow().product(a.data(), u.data(), expected.data(), m, k, n, scratch.data());
    fast().product(a.data(), u.data(), got.data(), m, k, n, scratch.data());
    ASSERT_EQ(expected, got) << m << " x " << k << " x " << n;
    std::vector<int8_t> row(static_cast<size_t>(k)), row_got(row);
    const int j = uniform(0, n - 1);
    slow().unpack_row(u.data(), j, k, row.data());
    fast().unpack_row(u.data(), j, k, row_got.data());
    ASSERT_EQ(row, row_got);
  }
}

TEST_P(KernelTest, WriteBack) {
  for (int round = 0; round < kRounds; ++round) {
    const int n = width();
    const auto acc = values<int32_t>(n, -(1 << 26), 1 << 26);
    const auto column = multipliers(n);
    const auto bias = values<int16_t>(n, -kWideMax, kWideMax);
    const auto residual = values<int8_t>(n, -127, 127);
    const bool with_residual = uniform(0, 1) != 0;
    const WriteBack how = {narrowing_shift(slow().max_abs(acc.data(), n)),
                           column.data(),
                           multiplier(),
                           bias.data(),
                           multiplier(),
                           with_residual ? residual.data() : nullptr,
                           multiplier(),
                           !with_residual && uniform(0, 1) != 0 ? Nonlinearity::kRelu : Nonlinearity::kNone};
    std::vector<int16_t> expected(static_cast<size_t>(n)), got(expected);
    const int32_t max = slow().write_back(acc.data(), how, expected.data(), n);
    ASSERT_EQ(max, fast().write_back(acc.data(), how, got.data(), n));
    ASSERT_EQ(expected, got);
    ASSERT_LE(max, 3 * kWideMax);
  }
}

TEST_P(KernelTest, MaxAbs) {
  for (int round = 0; round < kRounds; ++round) {
    const auto x = values<int32_t>(keys(), -(1 << 30), 1 << 30);
    const int n = static_cast<int>(x.size());
    ASSERT_EQ(slow().max_abs(x.data(), n), fast().max_abs(x.data(), n));
  }
}

TEST_P(KernelTest, MatchAddAndRescale) {
  for (int round = 0; round < kRounds; ++round) {
    const int n = width(), m_a = multiplier(), m_b = multiplier();
    const auto a = values<int16_t>(n, -kWideMax, kWideMax), b = values<int16_t>(n, -kWideMax, kWideMax);
    std::vector<int16_t> expected(static_cast<size_t>(n)), got(expected);
    const int32_t max = slow().match_add(a.data(), m_a, b.data(), m_b, expected.data(), n);
    ASSERT_EQ(max, fast().match_add(a.data(), m_a, b.data(), m_b, got.data(), n));
    ASSERT_EQ(expected, got);
    const int32_t m = rescale_multiplier(max, 127);
    const int count = uniform(1, n);  // attention re-scales any number of keys
    std::vector<int8_t> expected8(static_cast<size_t>(n)), got8(expected8);
    slow().rescale(expected.data(), m, expected8.data(), count);
    fast().rescale(expected.data(), m, got8.data(), count);
    ASSERT_EQ(expected8, got8);
    for (const int8_t x : got8) ASSERT_LE(std::abs(x), 127);
  }
}

TEST_P(KernelTest, Widen) {
  for (int round = 0; round < kRounds; ++round) {
    const int n = width(), shift = uniform(0, 7);
    const auto x = values<int8_t>(n, -63, 63);
    std::vector<int16_t> expected(static_cast<size_t>(n)), got(expected);
    slow().widen(x.data(), shift, expected.data(), n);
    fast().widen(x.data(), shift, got.data(), n);
    ASSERT_EQ(expected, got);
  }
}

TEST_P(KernelTest, CentreAndGain) {
  for (int round = 0; round < kRounds; ++round) {
    const int n = width();
    const auto x = values<int8_t>(n, -127, 127);
    const auto g = values<int16_t>(n, -32767, 32767);
    std::vector<int32_t> expected(static_cast<size_t>(n)), got(expected);
    const int32_t max = slow().centre(x.data(), expected.data(), n);
    ASSERT_EQ(max, fast().centre(x.data(), got.data(), n));
    ASSERT_EQ(expected, got);
    std::vector<int16_t> expected16(static_cast<size_t>(n)), got16(expected16);
    const int shift = narrowing_shift(max);
    ASSERT_EQ(slow().gain(expected.data(), shift, g.data(), expected16.data(), n),
              fast().gain(expected.data(), shift, g.data(), got16.data(), n));
    ASSERT_EQ(expected16, got16);
  }
}

TEST_P(KernelTest, ScoresAndWeightedSum) {
  for (int round = 0; round < kRounds; ++round) {
    const int width = 8 * uniform(1, 16), count = keys(), stride = width * uniform(1, 4);
    const auto q = values<int8_t>(width, -127, 127);
    const auto rows = values<int8_t>(count * stride, -127, 127);
    const auto w = values<int8_t>(count, 0, 127);
    std::vector<int32_t> expected(static_cast<size_t>(count)), got(expected);
    slow().scores(q.data(), rows.data(), stride, count, width, expected.data());
    fast().scores(q.data(), rows.data(), stride, count, width, got.data());
    ASSERT_EQ(expected, got);
    expected.assign(static_cast<size_t>(width), 0);
    got = expected;
    slow().weighted_sum(w.data(), rows.data(), stride, count, width, expected.data());
    fast().weighted_sum(w.data(), rows.data(), stride, count, width, got.data());
    ASSERT_EQ(expected, got);
  }
}

TEST_P(KernelTest, PolynomialWeights) {
  for (int round = 0; round < kRounds; ++round) {
    const int count = keys(), degree = uniform(1, 5);
    const auto x = values<int32_t>(count, -(1 << 20), 1 << 20);
    const auto match = multipliers(count);
    const auto n = static_cast<size_t>(count);
    std::vector<int16_t> expected(n), got(n);
    const int shift = narrowing_shift(slow().max_abs(x.data(), count)), m = multiplier(),
              b = uniform(-kWideMax, kWideMax);
    const int32_t top = slow().shifted_relu(x.data(), shift, match.data(), m, b, expected.data(), count);
    ASSERT_EQ(top, fast().shifted_relu(x.data(), shift, match.data(), m, b, got.data(), count));
    ASSERT_EQ(expected, got);
    std::vector<int8_t> v(n);
    slow().rescale(expected.data(), rescale_multiplier(top, 127), v.data(), count);
    std::vector<int32_t> p(n), p_got(n);
    const int32_t delta = uniform(0, 3) == 0 ? 1 << 30 : uniform(0, 5000);
    const int32_t max = slow().power(v.data(), degree, delta, p.data(), count);
    ASSERT_EQ(max, fast().power(v.data(), degree, delta, p_got.data(), count));
    ASSERT_EQ(p, p_got);
    int32_t sum = 0, sum_got = 0;
    ASSERT_EQ(slow().weigh(p.data(), narrowing_shift(max), match.data(), expected.data(), &sum, count),
              fast().weigh(p.data(), narrowing_shift(max), match.data(), got.data(), &sum_got, count));
    ASSERT_EQ(expected, got);
    ASSERT_EQ(sum, sum_got);
  }
}

TEST_P(KernelTest, NarrowAndLogits) {
  for (int round = 0; round < kRounds; ++round) {
    const int n = width();
    const auto x = values<int32_t>(n, -(1 << 21), 1 << 21);
    const auto column = values<uint16_t>(n, 1, 32767);
    std::vector<int16_t> expected(static_cast<size_t>(n)), got(expected);
    const int shift = narrowing_shift(slow().max_abs(x.data(), n)), m = multiplier();
    ASSERT_EQ(slow().narrow(x.data(), shift, m, expected.data(), n), fast().narrow(x.data(), shift, m, got.data(), n));
    ASSERT_EQ(expected, got);
    std::vector<int32_t> logits(static_cast<size_t>(n)), logits_got(logits);
    ASSERT_EQ(slow().logits(x.data(), 7, column.data(), logits.data(), n),
              fast().logits(x.data(), 7, column.data(), logits_got.data(), n));
    ASSERT_EQ(logits, logits_got);
  }
}

INSTANTIATE_TEST_SUITE_P(Fast, KernelTest, testing::Values(&kSimd128Kernel, &kRelaxedKernel),
                         [](const auto& info) { return std::string(info.param->name); });

TEST(FixedPoint, RoundsHalvesAwayFromZero) {
  EXPECT_EQ(rounding_shift(3, 1), 2);
  EXPECT_EQ(rounding_shift(-3, 1), -2);
  EXPECT_EQ(rounding_shift(-5, 2), -1);
  EXPECT_EQ(rounding_shift(-6, 2), -2);
  EXPECT_EQ(rounding_shift(5, -3), 40);
  EXPECT_EQ(multiply_q15(1, 16384), 1);
  EXPECT_EQ(multiply_q15(-1, 16384), -1);
  EXPECT_EQ(multiply_q15(-1, 16383), 0);
}

TEST(FixedPoint, NarrowingUsesThirteenBits) {
  for (int32_t max = 1; max < (1 << 29); max += max / 4 + 1) {
    const int32_t narrow = rounding_shift(max, narrowing_shift(max));
    EXPECT_LE(narrow, kWideMax) << max;
    EXPECT_GE(narrow, (kWideMax + 1) / 2) << max;
  }
  EXPECT_EQ(narrowing_shift(0), 0);
}

TEST(FixedPoint, RescalingNeverLeavesTheLimitAndUsesIt) {
  for (const int32_t limit : {31, 63, 127, 255, 511}) {
    for (int32_t max = 1; max <= 32767; ++max) {
      const int32_t top = multiply_q15(max, rescale_multiplier(max, limit));
      ASSERT_LE(top, limit);
      if (max > limit) {
        ASSERT_GE(top, limit - limit * max / 32768 / 2 - 1);
      }
    }
  }
}

}  // namespace
}  // namespace octavo
