// Every operation of scale propagation in both arithmetic modes: against exact arithmetic within
// the error that its rounding allows, and in paper mode against the formulas written out.
#include "scale_propagation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "fixed_point.h"
#include "scale_matching.h"

namespace octavo {
namespace {

constexpr ScalePropagation kFixed{};
constexpr ScalePropagation kPaper{.mode = Arithmetic::kPaper};

using Reals = std::vector<double>;

std::mt19937_64 random_engine(1);
double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_engine); }

ScaledTensor stored(int rows, std::vector<int64_t> x, std::vector<float> scales, int bits = 8) {
  ScaledTensor a(rows, int(x.size()) / rows, Width::kStored, bits);
  a.x = std::move(x);
  a.row_scale = std::move(scales);
  return a;
}

// Random integers of any size up to `limit`, one row of zeros, one of extremes, scales from 2^-6 to 2^6.
ScaledTensor random_tensor(int rows, int cols, int64_t limit, Width width, int bits = 8) {
  ScaledTensor a(rows, cols, width, bits);
  for (int i = 0; i < rows; ++i) {
    const double size = double(limit) * std::exp2(uniform(-8, 0));
    for (int j = 0; j < cols; ++j) a.row(i)[j] = int64_t(uniform(-size, size));
    a.row_scale[i] = float(std::exp2(uniform(-6, 6)));
  }
  if (rows > 2) std::fill_n(a.row(1), cols, 0);
  if (rows > 3) {
    for (int j = 0; j < cols; ++j) a.row(2)[j] = j % 2 ? limit : -limit;
  }
  return a;
}

Reals exact(const ScaledTensor& a) {
  Reals real;
  for (int i = 0; i < a.rows; ++i) {
    for (int j = 0; j < a.cols; ++j) {
      const double column = a.col_scale.empty() ? 1 : double(a.col_scale[j]);
      real.push_back(double(a.row(i)[j]) / (double(a.row_scale[i]) * column));
    }
  }
  return real;
}

// Every element within `steps` of the result's own unit 1/s, plus a relative error for Q15 ratios.
void expect_near(const ScaledTensor& got, const Reals& want, double steps, double relative = 1e-4) {
  const Reals real = exact(got);
  ASSERT_EQ(real.size(), want.size());
  for (size_t k = 0; k < want.size(); ++k) {
    const double unit = 1 / double(got.row_scale[k / size_t(got.cols)]);
    ASSERT_NEAR(real[k], want[k], steps * unit + relative * std::abs(want[k]))
        << "row " << k / size_t(got.cols) << " column " << k % size_t(got.cols);
  }
}

int64_t ceiling(double x) { return int64_t(std::ceil(x)); }

TEST(ScalePropagation, RoundsLikeTheFastPath) {
  for (int n = 0; n < 100000; ++n) {
    const auto x = int32_t(uniform(-0x1p30, 0x1p30)) >> int(uniform(0, 30));
    const int shift = int(uniform(1, 20));
    ASSERT_EQ(shifted(x, shift), rounding_shift(x, shift)) << x << " " << shift;
    ASSERT_EQ(narrowing(std::abs(x)), narrowing_shift(std::abs(x))) << x;
    ASSERT_EQ(rounded_quotient(x, int64_t{1} << shift), rounding_shift(x, shift));
  }
  EXPECT_EQ(rounded_quotient(5, 2), 3);
  EXPECT_EQ(rounded_quotient(-5, 2), -3);
  EXPECT_EQ(rounded_quotient(4, 3), 1);
  EXPECT_EQ(narrowing((int64_t{1} << 45) - 1), 33);
}

TEST(ScalePropagation, QuantizeFillsTheRange) {
  for (int bits = 6; bits <= 10; ++bits) {
    for (const Granularity granularity : {Granularity::kToken, Granularity::kSentence}) {
      const ScalePropagation on{.granularity = granularity, .bits = bits};
      const std::vector<float> real = {0.5f, -2, 1.25f, 0, 0, 0, 1e-3f, 2e-3f, -1e-3f};
      const ScaledTensor a = on.quantize(real, 3, 3);
      EXPECT_EQ(a.row(0)[1], -on.limit());
      EXPECT_FLOAT_EQ(a.row_scale[0], float(on.limit()) / 2);
      EXPECT_EQ(a.max_abs(1), 0);
      expect_near(a, Reals(real.begin(), real.end()), 0.5, 1e-6);
      const bool shared = granularity == Granularity::kSentence;
      EXPECT_EQ(a.row_scale[2] == a.row_scale[0], shared);
      EXPECT_EQ(a.max_abs(2) == on.limit(), !shared);
    }
  }
}

TEST(ScalePropagation, PaperRescalesByAWholeNumber) {
  for (const int64_t max : {1, 126, 127, 128, 130, 254, 255, 1000, 127 * 127, 2048383, 1 << 30}) {
    ScaledTensor a(1, 4, Width::kFull);
    a.x = {max, -max / 2, 3, -max};
    a.row_scale[0] = 5;
    const ScaledTensor r = kPaper.rescale(a);
    const int64_t divisor = ceiling(double(max) / 127);
    EXPECT_EQ(r.row_scale[0], 5.0f / float(divisor)) << max;
    for (int j = 0; j < 4; ++j) {
      EXPECT_EQ(r.row(0)[j], std::llround(double(a.row(0)[j]) / double(divisor))) << max;
      EXPECT_LE(std::abs(r.row(0)[j]), 127);
    }
    EXPECT_EQ(r.width, Width::kStored);
  }
  ScaledTensor a(1, 1, Width::kFull);
  a.x = {130};
  EXPECT_EQ(kPaper.rescale(a).x[0], 65);  // half of the range is wasted
  EXPECT_EQ(kFixed.rescale(a).x[0], 127);
}

TEST(ScalePropagation, FixedPointRescalesByTheRatio) {
  for (int bits = 6; bits <= 10; ++bits) {
    const ScalePropagation on{.bits = bits};
    for (const int64_t limit : {8191l, 1l << 20, 1l << 45}) {
      const ScaledTensor a = random_tensor(8, 32, limit, limit == 8191 ? Width::kWide : Width::kFull);
      const ScaledTensor r = on.rescale(a);
      for (int i = 0; i < a.rows; ++i) {
        EXPECT_LE(r.max_abs(i), on.limit());
        const bool grows = a.width == Width::kFull && a.max_abs(i) > 0;  // narrow rows shift left
        if (grows || a.max_abs(i) >= on.limit()) {
          EXPECT_GE(r.max_abs(i), on.limit() - 1);
        }
      }
      expect_near(r, exact(a), 0.6);
    }
  }
  const ScaledTensor fits = stored(1, {5, -127, 3}, {2});
  EXPECT_EQ(kFixed.rescale(fits).x, fits.x);
  EXPECT_EQ(kFixed.rescale(fits).row_scale, fits.row_scale);
}

TEST(ScalePropagation, ASentenceSharesOneScale) {
  for (const Arithmetic mode : {Arithmetic::kPaper, Arithmetic::kFixedPoint}) {
    const ScalePropagation on{mode, Granularity::kSentence, 8};
    ScaledTensor a = random_tensor(6, 16, 100000, Width::kFull);
    a.row_scale[1] = 1e-6f;  // a row of zeros has no say
    const ScaledTensor r = on.rescale(a);
    int64_t max = 0;
    for (int i = 0; i < 6; ++i) {
      EXPECT_EQ(r.row_scale[i], r.row_scale[0]);
      max = std::max(max, r.max_abs(i));
    }
    EXPECT_LE(max, 127);
    EXPECT_GE(max, 64);
    if (mode == Arithmetic::kFixedPoint) expect_near(r, exact(a), 0.7);
  }
}

TEST(ScalePropagation, PaperMatchesByWholeNumbers) {
  // s̄ = 10: ratios 1, 1.05, 2, 3.7 become 1, 2, 2, 4.
  ScaledTensor a = stored(1, {100, 100, -101, 101}, {3});
  a.col_scale = {10, 10.5f, 20, 37};
  const ScaledTensor m = kPaper.match_columns(a);
  EXPECT_EQ(m.x, (std::vector<int64_t>{100, 50, -51, 25}));
  EXPECT_EQ(m.row_scale[0], 30);
  EXPECT_TRUE(m.col_scale.empty());
  const ScaledTensor rows = stored(3, {100, 7, 0, 0, -9, 9}, {2.5f, 1, 1.5f});
  const ScaledTensor r = kPaper.match_rows(rows);
  EXPECT_EQ(r.row_scale, (std::vector<float>{1.5f, 1.5f, 1.5f}));  // zeros do not count
  EXPECT_EQ(r.x, (std::vector<int64_t>{50, 4, 0, 0, -9, 9}));
}

TEST(ScalePropagation, FixedPointMatchesByTheRatio) {
  for (int n = 0; n < 50; ++n) {
    ScaledTensor a = random_tensor(5, 24, 1 << 24, Width::kFull);
    for (int j = 0; j < 24; ++j) a.col_scale.push_back(float(std::exp2(uniform(-3, 3))));
    const ScaledTensor m = kFixed.match_columns(a);
    EXPECT_TRUE(m.col_scale.empty());
    expect_near(m, exact(a), 1.1);
    expect_near(kFixed.match_rows(m), exact(m), 0.6);
    const float common = std::ranges::min(a.col_scale) * 0.9f;
    expect_near(kFixed.match_columns(a, common), exact(a), 1.1);
  }
}

TEST(ScalePropagation, ShapeOperationsKeepEveryNumber) {
  for (const ScalePropagation& on : {kFixed, kPaper}) {
    ScaledTensor a = random_tensor(5, 7, 127, Width::kStored);
    for (int j = 0; j < 7; ++j) a.col_scale.push_back(float(j + 1));
    const ScaledTensor back = on.transpose(on.transpose(a));
    EXPECT_EQ(back.x, a.x);
    EXPECT_EQ(back.row_scale, a.row_scale);
    EXPECT_EQ(back.col_scale, a.col_scale);
    const ScaledTensor part = on.slice(on.transpose(a), 2, 3, 1, 4);
    const Reals all = exact(a), some = exact(part);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 4; ++j) {
        EXPECT_FLOAT_EQ(float(some[i * 4 + j]), float(all[(1 + j) * 7 + 2 + i]));
      }
    }
    const ScaledTensor rows[] = {on.slice(a, 0, 2, 0, 7), on.slice(a, 2, 3, 0, 7)};
    EXPECT_EQ(exact(on.concat_rows(rows)), all);
  }
}

TEST(ScalePropagation, ConcatenatedColumnsShareAScale) {
  const ScaledTensor parts[] = {stored(2, {100, -50, 0, 0}, {4, 1}), stored(2, {0, 0, 0, 0}, {1, 3}),
                                stored(2, {10, 20, 0, 0}, {6, 8})};
  const ScaledTensor paper = kPaper.concat_cols(parts);
  EXPECT_EQ(paper.x, (std::vector<int64_t>{100, -50, 0, 0, 5, 10, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(paper.row_scale, (std::vector<float>{4, 1}));
  const ScaledTensor fixed = kFixed.concat_cols(parts);
  expect_near(fixed, {25, -12.5, 0, 0, 10.0 / 6, 20.0 / 6, 0, 0, 0, 0, 0, 0}, 0.6);
  EXPECT_EQ(fixed.row_scale, (std::vector<float>{256, 1}));  // 4·2^6
}

TEST(ScalePropagation, ElementWiseOperationsAreExact) {
  for (int bits = 6; bits <= 10; ++bits) {
    for (const Arithmetic mode : {Arithmetic::kPaper, Arithmetic::kFixedPoint}) {
      const ScalePropagation on{.mode = mode, .bits = bits};
      const ScaledTensor a = random_tensor(5, 9, on.limit(), Width::kStored, bits);
      const ScaledTensor b = random_tensor(5, 9, on.limit(), Width::kStored, bits);
      const Reals ra = exact(a), rb = exact(b), row = exact(on.slice(b, 2, 1, 0, 9));
      const auto check = [&](const ScaledTensor& got, auto want) {
        const Reals real = exact(got);
        for (size_t k = 0; k < real.size(); ++k) {
          EXPECT_NEAR(real[k], want(k), std::abs(want(k)) * 1e-6);
        }
      };
      check(on.multiply(a, b), [&](size_t k) { return ra[k] * rb[k]; });
      check(on.multiply(a, on.slice(b, 2, 1, 0, 9)), [&](size_t k) { return ra[k] * row[k % 9]; });
      check(on.abs(a), [&](size_t k) { return std::abs(ra[k]); });
      check(on.relu(a), [&](size_t k) { return std::max(ra[k], 0.0); });
      check(on.divide(a, 3), [&](size_t k) { return ra[k] / 3; });
      for (int n = 1; n <= 5; ++n) {
        check(on.power(a, n), [&](size_t k) { return std::pow(ra[k], n); });
      }
      EXPECT_EQ(on.power(a, 5).max_abs(2), int64_t(std::pow(on.limit(), 5)));
    }
  }
}

TEST(ScalePropagation, PaperAddsWhatIsMatched) {
  const ScaledTensor terms[] = {stored(2, {127, -3, 60, 1}, {10, 2}), stored(1, {-127, 50}, {4})};
  const ScaledTensor sum = kPaper.add(terms);
  // Row 0: ⌈10/4⌉ = 3. Row 1: ⌈4/2⌉ = 2.
  EXPECT_EQ(sum.x, (std::vector<int64_t>{42 - 127, -1 + 50, 60 - 64, 1 + 25}));
  EXPECT_EQ(sum.row_scale, (std::vector<float>{4, 2}));
  // A constant is quantised like any tensor: 0.5 = 127/254, ⌈254/10⌉ = 26, round(127/26) = 5.
  const ScaledTensor shifted_up = kPaper.add_constant(terms[0], 0.5f);
  EXPECT_EQ(shifted_up.x, (std::vector<int64_t>{132, 2, 61, 2}));
  const ScaledTensor coarser = kPaper.add_constant(terms[0], -127);  // s̄ = 1
  EXPECT_EQ(coarser.x, (std::vector<int64_t>{13 - 127, 0 - 127, 30 - 127, 1 - 127}));
}

TEST(ScalePropagation, FixedPointSumsAreNearlyExact) {
  for (int bits = 6; bits <= 10; ++bits) {
    const ScalePropagation on{.bits = bits};
    for (int n = 0; n < 20; ++n) {
      const ScaledTensor terms[] = {random_tensor(6, 16, 1 << 28, Width::kFull),
                                    random_tensor(1, 16, 8191, Width::kWide),
                                    random_tensor(6, 16, on.limit(), Width::kStored, bits)};
      const Reals a = exact(terms[0]), b = exact(terms[1]), c = exact(terms[2]);
      const ScaledTensor sum = on.add(terms);
      Reals want;
      for (size_t k = 0; k < a.size(); ++k) want.push_back(a[k] + b[k % 16] + c[k]);
      expect_near(sum, want, 3.0, 0);  // each term: narrowing, ratio and product are rounded
      for (int i = 0; i < 6; ++i) EXPECT_LE(sum.max_abs(i), 3 * kWideMax);
      const auto constant = float(uniform(-3, 3));
      for (double& x : want = exact(terms[2])) x += constant;
      expect_near(on.add_constant(terms[2], constant), want, 1.3, 0);
    }
  }
}

TEST(ScalePropagation, ProductsAreExactAndNeverOverflow) {
  for (const ScalePropagation& on :
       {kFixed, kPaper, ScalePropagation{.bits = 10}, ScalePropagation{Arithmetic::kPaper, {}, 6}}) {
    const ScaledTensor a = random_tensor(5, 48, on.limit(), Width::kStored, on.bits);
    const ScaledTensor b = random_tensor(7, 48, on.limit(), Width::kStored, on.bits);
    const ScaledTensor c = on.matmul(a, b);
    EXPECT_EQ(c.row_scale, a.row_scale);
    EXPECT_EQ(c.col_scale, b.row_scale);
    for (int i = 0; i < 5; ++i) {
      for (int j = 0; j < 7; ++j) {
        int64_t sum = 0;
        for (int k = 0; k < 48; ++k) sum += a.row(i)[k] * b.row(j)[k];
        EXPECT_EQ(c.row(i)[j], sum);
      }
    }
  }
  const ScaledTensor most = stored(1, std::vector<int64_t>(32768, 511), {1}, 10);
  EXPECT_EQ(ScalePropagation{.bits = 10}.matmul(most, most).x[0], int64_t{511} * 511 * 32768);
  ScaledMatrix w = {1, 32768, 10, std::vector<int16_t>(32768, -511), {3}, 3};
  EXPECT_EQ(kFixed.matmul(most, w).x[0], -int64_t{511} * 511 * 32768);
  EXPECT_EQ(kFixed.matmul(most, w).col_scale, w.row_scale);
}

TEST(ScalePropagation, ProductsMatchScalesAlongTheirDimension) {
  ScaledTensor a = stored(1, {100, 60, -8}, {2}), b = stored(2, {10, 20, 30, -10, -20, 33}, {4, 8});
  a.col_scale = {1, 1.5f, 1};
  b.col_scale = {1, 3, 2.5f};
  // a: ⌈1.5⌉ = 2; b: ⌈3⌉ = 3, ⌈2.5⌉ = 3.
  const ScaledTensor paper = kPaper.matmul(a, b);
  EXPECT_EQ(paper.x, (std::vector<int64_t>{1000 + 30 * 7 - 80, -1000 - 30 * 7 - 8 * 11}));
  const Reals want = {(1000.0 + 1200 / 4.5 - 240 / 2.5) / 8, (-1000 - 1200 / 4.5 - 264 / 2.5) / 16};
  const Reals got = exact(kFixed.matmul(a, b));
  for (int j = 0; j < 2; ++j) EXPECT_NEAR(got[j], want[j], 0.01 * std::abs(want[j]));
}

}  // namespace
}  // namespace octavo
