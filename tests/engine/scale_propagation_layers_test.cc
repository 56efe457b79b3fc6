// Polynomial, weighted mean and L1 norm on scaled tensors, against the same in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "scale_propagation.h"

namespace octavo {
namespace {

constexpr ScalePropagation kPaper{.mode = Arithmetic::kPaper};

std::mt19937_64 random_engine(2);
double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_engine); }

ScaledTensor random_rows(int rows, int cols, int bits, double low, double high) {
  ScaledTensor a(rows, cols, Width::kStored, bits);
  for (int64_t& x : a.x) x = std::llround(uniform(low, high));
  for (float& s : a.row_scale) s = float(std::exp2(uniform(-2, 6)));
  return a;
}

ScaledTensor row(std::vector<int64_t> x, float scale, Width width = Width::kStored) {
  ScaledTensor a(1, int(x.size()), width, 8);
  a.x = std::move(x);
  a.row_scale = {scale};
  return a;
}

double real(const ScaledTensor& a, int i, int j) { return double(a.row(i)[j]) / double(a.row_scale[i]); }

TEST(Polynomial, IsThePowerPlusDelta) {
  for (int bits = 6; bits <= 10; ++bits) {
    const ScalePropagation on{.bits = bits};
    const auto limit = double(on.limit());
    for (int n = 1; n <= 5; ++n) {
      ScaledTensor a = random_rows(8, 20, bits, 0, limit);
      a.row(0)[0] = on.limit();
      for (const double share : {0.0, 1e-6, 0.01, 0.3}) {
        // δ as a share of the largest power.
        const auto delta = float(share * std::pow(limit / a.row_scale[0], n));
        const ScaledTensor p = on.polynomial(a, n, delta);
        const double unit = std::pow(double(a.row_scale[0]), n) / (n == 5 ? std::exp2(bits - 1) : 1);
        EXPECT_NEAR(p.row_scale[0] / unit, 1, 1e-5);
        for (int j = 0; j < 20; ++j) {
          const double want = std::pow(real(a, 0, j), n) + delta;
          const double slack = (n == 5 ? limit : 1) / unit;  // the fourth power was rounded
          EXPECT_NEAR(real(p, 0, j), want, slack + want * 1e-5) << bits << " bits, degree " << n;
          EXPECT_GE(p.row(0)[j], 0);
        }
      }
    }
  }
}

TEST(Polynomial, ARowWithoutAnythingIsAnAverage) {
  for (const Arithmetic mode : {Arithmetic::kPaper, Arithmetic::kFixedPoint}) {
    const ScalePropagation on{.mode = mode};
    for (int n = 1; n <= 5; ++n) {
      for (const float delta : {0.0f, 0.01f, 1e9f}) {
        const ScaledTensor p = on.polynomial(row({0, 0, 0}, 100), n, delta);
        EXPECT_GT(p.x[0], 0);
        EXPECT_EQ(p.x, std::vector<int64_t>(3, p.x[0]));
        const ScaledTensor v = random_rows(3, 4, 8, -127, 127);
        ScaledTensor same = v;
        same.row_scale = {5, 5, 5};
        const ScaledTensor mean = on.weighted_mean(p, same);
        for (int c = 0; c < 4; ++c) {
          EXPECT_NEAR(real(mean, 0, c), (real(same, 0, c) + real(same, 1, c) + real(same, 2, c)) / 3, 0.51 / 5);
        }
      }
    }
  }
}

TEST(Polynomial, AnEndlessDeltaIsBounded) {
  for (int n = 1; n <= 5; ++n) {
    const ScaledTensor p = ScalePropagation{.bits = 10}.polynomial(row({511, 0}, 1e9f), n, 1e30f);
    EXPECT_LT(p.max_abs(0), int64_t{1} << 46);
    EXPECT_GT(p.x[1], 0);
    EXPECT_TRUE(std::isfinite(p.row_scale[0]));
  }
}

TEST(Polynomial, PaperStoresEveryStep) {
  // 127² = 16129 is re-scaled by 127 to 127 at the scale 10²/127; 50² = 2500 to 20. δ = 2 is 127 at
  // 63.5, which is matched: ⌈63.5 / 0.787⌉ = 81, round(127/81) = 2.
  const ScaledTensor p = kPaper.polynomial(row({127, 50, 0}, 10), 2, 2);
  EXPECT_EQ(p.x, (std::vector<int64_t>{65, 11, 1}));  // 129, 22, 2 by ⌈129/127⌉ = 2
  EXPECT_FLOAT_EQ(p.row_scale[0], 100.0f / 127 / 2);
}

TEST(WeightedMean, IsTheMeanOfValuesWithTheirOwnScales) {
  for (int bits = 6; bits <= 10; ++bits) {
    const ScalePropagation on{.bits = bits};
    const auto limit = double(on.limit());
    for (const int keys : {1, 2, 13, 300}) {
      ScaledTensor p(4, keys, Width::kFull);
      for (int64_t& x : p.x) x = int64_t(std::pow(uniform(0, limit), 3)) + 1;
      const ScaledTensor v = random_rows(keys, 16, bits, -limit, limit);
      ScaledTensor weights;
      const ScaledTensor mean = on.weighted_mean(p, v, &weights);
      ASSERT_EQ(mean.rows, 4);
      ASSERT_EQ(mean.cols, 16);
      for (int i = 0; i < 4; ++i) {
        EXPECT_LE(weights.max_abs(i), on.limit());
        EXPECT_GE(*std::min_element(weights.row(i), weights.row(i) + keys), 0);
        const double all = std::reduce(p.row(i), p.row(i) + keys, 0.0);
        double largest = 0;
        for (int j = 0; j < keys; ++j) {
          for (int c = 0; c < 16; ++c) largest = std::max(largest, std::abs(real(v, j, c)));
        }
        for (int c = 0; c < 16; ++c) {
          double want = 0;
          for (int j = 0; j < keys; ++j) want += double(p.row(i)[j]) / all * real(v, j, c);
          EXPECT_NEAR(real(mean, i, c), want, largest * 0.7 / limit) << keys << " keys";
        }
      }
    }
  }
}

TEST(WeightedMean, PaperDividesIntegers) {
  ScaledTensor v(3, 2, Width::kStored, 8);
  v.x = {100, -30, 90, 7, -20, 64};
  v.row_scale = {4, 6, 4};  // ⌈6/4⌉ = 2: the second row becomes 45, 4
  const ScaledTensor mean = kPaper.weighted_mean(row({3, 5, 2}, 99), v);
  EXPECT_EQ(mean.x, (std::vector<int64_t>{49, 6}));  // 485/10 and 58/10
  EXPECT_EQ(mean.row_scale[0], 4);
  EXPECT_EQ(mean.width, Width::kStored);
}

// g ⊙ (x-μ) / (C·mean|x-μ|) + b
std::vector<double> l1_norm(const ScaledTensor& x, int i, const std::vector<double>& g, const std::vector<double>& b) {
  const int n = x.cols;
  double mean = 0, deviation = 0;
  for (int j = 0; j < n; ++j) mean += real(x, i, j) / n;
  for (int j = 0; j < n; ++j) deviation += std::abs(real(x, i, j) - mean) / n;
  std::vector<double> y;
  for (int j = 0; j < n; ++j) {
    const double c = (real(x, i, j) - mean) / (std::sqrt(std::acos(-1.0) / 2) * deviation);
    y.push_back((deviation > 1e-9 ? g[j] * c : 0) + b[j]);
  }
  return y;
}

TEST(L1Norm, IsNearlyExactInFixedPoint) {
  for (int bits = 6; bits <= 10; ++bits) {
    const ScalePropagation on{.bits = bits};
    const auto limit = double(on.limit());
    for (const int n : {16, 48, 512}) {
      ScaledTensor x = random_rows(6, n, bits, -limit, limit);
      for (int j = 0; j < n; ++j) x.row(1)[j] = 0, x.row(2)[j] = on.limit();
      for (int j = 0; j < n; ++j) x.row(3)[j] = j == 0 ? on.limit() : 0;
      std::vector<float> g, b;
      for (int j = 0; j < n; ++j) g.push_back(float(uniform(-2, 2))), b.push_back(float(uniform(-1, 1)));
      const ScaledTensor gain = quantize_row(g, 32767, Width::kWide, 0);
      const ScaledTensor bias = quantize_row(b, 8191, Width::kWide, 0);
      const ScaledTensor wide = on.add({{on.gain(on.centre(x), gain), bias}});
      const ScaledTensor y = on.rescale(wide);
      for (int i = 0; i < 6; ++i) {
        const std::vector<double> want = l1_norm(x, i, {g.begin(), g.end()}, {b.begin(), b.end()});
        double largest = 0;
        for (const double w : want) largest = std::max(largest, std::abs(w));
        // Beside a single large number the others keep few bits, and so does their sum.
        const double slack = i == 3 ? 0.02 : 6e-4;
        for (int j = 0; j < n; ++j) {
          EXPECT_NEAR(real(wide, i, j), want[j], largest * slack) << "row " << i;
          EXPECT_NEAR(real(y, i, j), want[j], largest * (slack + 0.51 / limit)) << "row " << i;
        }
      }
    }
  }
}

TEST(L1Norm, PaperStoresEveryStep) {
  // n·x - Σx = 4·x - 100: 300, -60, -100, -140, re-scaled by ⌈300/127⌉ = 3.
  const ScaledTensor c = kPaper.centre(row({100, 10, 0, -10}, 7));
  EXPECT_EQ(c.x, (std::vector<int64_t>{100, -20, -33, -47}));
  EXPECT_FLOAT_EQ(c.row_scale[0], 1.2533141f * 200 / 4);
  // Gains: 127·100 = 12700 by ⌈12700/127⌉ = 100.
  const ScaledTensor scaled = kPaper.gain(c, row({127, 64, -64, 0}, 63.5f));
  EXPECT_EQ(scaled.x, (std::vector<int64_t>{127, -13, 21, 0}));
  EXPECT_FLOAT_EQ(scaled.row_scale[0], c.row_scale[0] * 63.5f / 100);
}

TEST(Settle, OnlyThePaperStoresBetweenOperations) {
  ScaledTensor a = row({1000, -500}, 3, Width::kFull);
  EXPECT_EQ(kPaper.settle(a).width, Width::kStored);
  EXPECT_EQ(ScalePropagation{}.settle(a).x, a.x);
}

}  // namespace
}  // namespace octavo
