// Every kernel gives the bits of the reference: over 10,000 random shapes and contents, extremes included.
#include "kernels/kernel.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "fixed_point.h"
#include "kernel_cases.h"

namespace octavo {
namespace {

constexpr int kRounds = 1000;  // times eight groups of functions times three kernels

struct Generator {
  std::mt19937 random{7};
  int uniform(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); }
};
using Cases = KernelCases<Generator>;

class KernelTest : public testing::TestWithParam<const Kernel*> {
 protected:
  void run(void (Cases::*function)()) {
    Cases cases(*GetParam(), {});
    for (int round = 0; round < kRounds; ++round) {
      (cases.*function)();
      ASSERT_TRUE(cases.equal()) << "round " << round;
    }
  }
};

TEST_P(KernelTest, Product) { run(&Cases::product); }
TEST_P(KernelTest, WriteBack) { run(&Cases::write_back); }
TEST_P(KernelTest, MatchAddAndRescale) { run(&Cases::match_add_and_rescale); }
TEST_P(KernelTest, Widen) { run(&Cases::widen); }
TEST_P(KernelTest, CentreAndGain) { run(&Cases::centre_and_gain); }
TEST_P(KernelTest, ScoresAndWeightedSum) { run(&Cases::scores_and_weighted_sum); }
TEST_P(KernelTest, PolynomialWeights) { run(&Cases::polynomial_weights); }
TEST_P(KernelTest, NarrowAndLogits) { run(&Cases::narrow_and_logits); }

INSTANTIATE_TEST_SUITE_P(Fast, KernelTest, testing::Values(&kSimd128Kernel, &kRelaxedKernel, &kFusedKernel),
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
