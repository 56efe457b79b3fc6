// Scale propagation as the paper defines it: every operation of its table on {x, s}, in plain C++.
// This is the specification of the fast path (layers/ and kernels/), which gives the same bits, and
// what the ablations run on.
//
// Two arithmetic modes differ in how integers are re-scaled and matched:
//   paper        the formulas to the letter: x / ⌈max|x| / (2^p - 1)⌉ and x / ⌈s / s̄⌉, both rounded,
//                and every operation's result is stored
//   fixed-point  the ratio itself as a Q15 multiplier on 13-bit operands (fixed_point.h); a chain of
//                operations stays wide until its result is stored; the default
//
// Ranges. Stored elements have |x| <= L = 2^(bits-1) - 1 <= 511. The fast path has bits = 8 and
// needs INT32 inside an operation; here elements are INT64, so that ten bits and every width that a
// model file allows (inputs <= 32768, keys <= 8192) have room too:
//   products   inputs·L² <= 2^15·2^18 = 2^33
//   centring   n·x - Σx, at most 2·n·L <= 2^23
//   powers     L⁵ < 2^45, plus |δ| <= 2^38
//   wide sums  four terms of 8191: 15 bits, what a Q15 product may take
// Scales are positive and finite floats.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace octavo {

enum class Width {
  kStored,  // |x| <= 2^(bits-1) - 1: a tensor between operations, INT8 for 8 bits
  kWide,    // at most 13 bits, sums 15: inside an operation in fixed-point arithmetic
  kFull,    // products and their sums
};

// {x, s}: x / (row_scale ⊗ col_scale). A tensor quantised along its rows has no column scales; a
// matrix product of two such has one scale per row and one per column; transposing swaps them.
struct ScaledTensor {
  int rows = 0, cols = 0;
  Width width = Width::kFull;
  int bits = 0;                  // of a stored tensor; it enters a sum shifted left by 14 - bits
  std::vector<int64_t> x;        // (rows, cols)
  std::vector<float> row_scale;  // (rows)
  std::vector<float> col_scale;  // (cols), or empty if all are 1

  ScaledTensor() = default;
  ScaledTensor(int rows, int cols, Width width, int bits = 0);
  int64_t* row(int i) { return x.data() + int64_t{i} * cols; }
  const int64_t* row(int i) const { return x.data() + int64_t{i} * cols; }
  int64_t max_abs(int i) const;            // of one row
  std::vector<float> dequantized() const;  // D: (rows, cols)
};

// A constant second operand of a product: one scale per row (output), and the scale s̄ that its
// outputs are matched to. The elements are narrow so that products are quick.
struct ScaledMatrix {
  int rows = 0, cols = 0, bits = 0;
  std::vector<int16_t> x;        // (rows, cols), |x| <= 2^(bits-1) - 1
  std::vector<float> row_scale;  // (rows)
  float common = 0;              // at most the smallest row scale
};

enum class Arithmetic { kPaper, kFixedPoint };
enum class Granularity { kToken, kSentence };  // one scale per row (B×T), or one for all rows (B)

// A row of integers with one scale, from real numbers: a stored tensor in paper arithmetic, a wide
// one in fixed-point arithmetic. The limit is the largest |x|.
ScaledTensor quantize_row(std::span<const float> real, int64_t limit, Width width, int bits);

struct ScalePropagation {
  Arithmetic mode = Arithmetic::kFixedPoint;
  Granularity granularity = Granularity::kToken;
  int bits = 8;  // 6..10

  int64_t limit() const { return (1 << (bits - 1)) - 1; }
  bool paper() const { return mode == Arithmetic::kPaper; }

  // Q: real numbers (rows, cols) to integers, s = limit / max|r| per row (or for all rows). A wide
  // tensor has the limit 8191. Range: |r| finite; scales are held below 2^30.
  ScaledTensor quantize(std::span<const float> real, int rows, int cols, Width width = Width::kStored) const;

  // R: back to |x| <= 2^p - 1. Column scales stay. A sentence's rows are matched first. Range: |x| < 2^62 if full; wide
  // rows of 15 bits, so that x·m + 2^14 < 2^31.
  ScaledTensor rescale(const ScaledTensor& a) const;
  // What the protocol does to a result that the next operation consumes at once: the paper stores
  // it, fixed-point arithmetic leaves it as it is.
  ScaledTensor settle(const ScaledTensor& a) const { return paper() ? rescale(a) : a; }

  // Shape operations: the same on x and on s.
  ScaledTensor transpose(const ScaledTensor& a) const;
  ScaledTensor slice(const ScaledTensor& a, int first_row, int rows, int first_col, int cols) const;
  ScaledTensor concat_rows(std::span<const ScaledTensor> parts) const;  // of one width
  // Parts with scales of their own share a row afterwards: they are matched, as the following
  // product along the columns would do. A part of zeros has no say in the scale.
  ScaledTensor concat_cols(std::span<const ScaledTensor> parts) const;

  // Element-wise, exact: {x1·x2, s1·s2}, {|x|, s}, {ReLU(x), s}, {xⁿ, sⁿ}. b may be one row for all
  // rows of a. Range: n = 1..5 on stored x, L⁵ < 2^45; products of two wide rows < 2^30; sⁿ is held within 2^±100.
  ScaledTensor multiply(const ScaledTensor& a, const ScaledTensor& b) const;
  ScaledTensor abs(const ScaledTensor& a) const;
  ScaledTensor relu(const ScaledTensor& a) const;
  ScaledTensor power(const ScaledTensor& a, int n) const;
  // {x, s·f}, that is r / f: a constant factor is a matter of the scale alone.
  ScaledTensor divide(ScaledTensor a, float f) const;

  // M between tensors, then their sum: {Σ xᵢ, s̄}, s̄ = min sᵢ row by row. A term of one row is
  // added to every row; terms without column scales. Range: up to four terms, each at most 13 bits (or stored) and not
  // made larger by matching, so |Σ| <= 4·8191; a constant has 13 bits at most by the choice of s̄.
  ScaledTensor add(std::span<const ScaledTensor> terms) const;
  ScaledTensor add_constant(const ScaledTensor& a, float b) const;

  // M along a dimension: one scale for all columns of a row, or for all rows. `common` is a scale
  // that the columns are matched to in fixed-point arithmetic instead of their smallest. Range: ratios are <= 1, so
  // matched elements are not larger than before.
  ScaledTensor match_columns(const ScaledTensor& a, float common = 0) const;
  ScaledTensor match_rows(const ScaledTensor& a) const;

  // MatMul(a, bᵀ) along the columns of both: match the scales along that dimension, then {x1·x2ᵀ,
  // s̄1 ⊗ s̄2}. The paper matches each operand. Fixed-point arithmetic moves b's column scales to
  // a, which has bits to spare, and stores a; b is multiplied as it is. Range: cols·L² <= 2^33.
  ScaledTensor matmul(const ScaledTensor& a, const ScaledTensor& b) const;
  // The same by a matrix of weights. a is stored.
  ScaledTensor matmul(const ScaledTensor& a, const ScaledMatrix& b) const;

  // ---- what the Integer Transformer is made of beside the table

  // ReLU(x)ⁿ + |δ| for x >= 0 that is stored: {xⁿ + δ·sⁿ, sⁿ}. A row of zeros becomes a row of
  // equal numbers: a simple average. Range: L⁵ + 2^38 < 2^46; the fast path's fifth power, without its lowest 7 bits,
  // is below 2^28 and its |δ| at most 2^30.
  ScaledTensor polynomial(const ScaledTensor& a, int n, float delta) const;
  // Σ_j p_j·v_j / Σ_j p_j for p >= 0: (queries, keys) · (keys, width) → (queries, width). The paper
  // divides integers; fixed-point arithmetic takes {p, Σp}, which stands for p / Σp, and divides
  // nothing. `weights`, unless null, gets what the values were multiplied by. Range: keys·L² as for any product; Σp of
  // 13-bit weights <= keys·8191.
  ScaledTensor weighted_mean(const ScaledTensor& p, const ScaledTensor& v, ScaledTensor* weights = nullptr) const;
  // (x - μ) / (C·mean|x-μ|), C = √(π/2). With c = n·x - Σx this is c / (C·Σ|c|/n): the scale of x
  // cancels, and dividing by Σ|c| only makes the new scale. Range: |c| <= 2·n·L; the result has 13 bits (or is stored).
  ScaledTensor centre(const ScaledTensor& a) const;
  // Element-wise product with a row of gains, Q15 multipliers |g| <= 32767 in fixed-point arithmetic. Range: the result
  // is not larger than a.
  ScaledTensor gain(const ScaledTensor& a, const ScaledTensor& g) const;
  // {x, max(s, 2^-60)} of a product: see held_scale. Range: elements as they are.
  ScaledTensor hold(const ScaledTensor& a) const;

 private:
  ScaledTensor widen(const ScaledTensor& a) const;
  // What scales are matched on: the paper takes elements as they are, fixed-point arithmetic widens.
  ScaledTensor operand(const ScaledTensor& a) const { return paper() ? a : widen(a); }
  // {x1·x2ᵀ, s1 ⊗ s2} of stored operands without column scales.
  static ScaledTensor product(const ScaledTensor& a, const ScaledTensor& b);
  std::pair<ScaledTensor, ScaledTensor> match_operands(const ScaledTensor& a, const ScaledTensor& b) const;
};

}  // namespace octavo
