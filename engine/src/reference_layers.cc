#include "reference_layers.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "fixed_point.h"
#include "kernels/float_kernel.h"
#include "scale_matching.h"

namespace octavo {
namespace {

RealTensor real(const Activation& a) {
  if (const auto* numbers = std::get_if<RealTensor>(&a)) return *numbers;
  const auto& scaled = std::get<ScaledTensor>(a);
  return {scaled.rows, scaled.cols, scaled.dequantized()};
}

RealTensor product(const FloatLinear& w, const RealTensor& x, fp32::Into into) {
  const int outputs = static_cast<int>(w.outputs);
  RealTensor y = {x.rows, outputs, std::vector<float>(size_t(x.rows) * outputs)};
  fp32::product(x.x.data(), w.panels, w.bias, y.x.data(), x.rows, x.cols, outputs, into);
  return y;
}

RealTensor sum(RealTensor a, const RealTensor& b) {
  for (size_t i = 0; i < a.x.size(); ++i) a.x[i] += b.x[i];
  return a;
}

// Shares of 255, as the fast path counts them.
void add_alignment(const ScaledTensor& weights, std::vector<int32_t>& alignment) {
  int64_t all = 0;
  for (int j = 0; j < weights.cols; ++j) all += weights.row(0)[j];
  for (int j = 0; all > 0 && j < weights.cols; ++j) {
    alignment[j] += static_cast<int32_t>((255 * weights.row(0)[j] + all / 2) / all);
  }
}

}  // namespace

int rows_of(const Activation& a) {
  return std::visit([](const auto& tensor) { return tensor.rows; }, a);
}

std::vector<float> values_of(const Activation& a) { return real(a).x; }

Activation slice_rows(const Activation& a, int first, int rows) {
  if (const auto* x = std::get_if<ScaledTensor>(&a)) {
    return ScalePropagation().slice(*x, first, rows, 0, x->cols);
  }
  const auto& x = std::get<RealTensor>(a);
  const auto begin = x.x.begin() + int64_t{first} * x.cols;
  return RealTensor{rows, x.cols, {begin, begin + int64_t{rows} * x.cols}};
}

Activation join_rows(std::span<const Activation> parts) {
  if (std::holds_alternative<ScaledTensor>(parts[0])) {
    std::vector<ScaledTensor> tensors;
    for (const Activation& part : parts) tensors.push_back(std::get<ScaledTensor>(part));
    return ScalePropagation().concat_rows(tensors);
  }
  RealTensor all = std::get<RealTensor>(parts[0]);
  for (const Activation& part : parts.subspan(1)) {
    const auto& added = std::get<RealTensor>(part);
    all.rows += added.rows;
    all.x.insert(all.x.end(), added.x.begin(), added.x.end());
  }
  return all;
}

ReferenceLayers::ReferenceLayers(const ReferenceOptions& options, const NetworkShape& shape, Granularity granularity)
    : options_(options), shape_(shape), on_(options.arithmetic) {
  on_.granularity = granularity;
}

ScaledTensor ReferenceLayers::scaled(const Activation& a) const {
  if (const auto* tensor = std::get_if<ScaledTensor>(&a)) return *tensor;
  const auto& numbers = std::get<RealTensor>(a);
  return on_.quantize(numbers.x, numbers.rows, numbers.cols);
}

// ------------------------------------------------------------------------------------- the layers

Activation ReferenceLayers::embed(const ReferenceLinear& table, std::span<const int32_t> tokens,
                                  std::span<const double* const> codes) const {
  const int rows = static_cast<int>(tokens.size()), d = static_cast<int>(shape_.width);
  const float root = std::sqrt(static_cast<float>(d));
  Activation stream;
  if (integer(kEmbedding)) {
    ScaledTensor token(rows, d, Width::kStored, table.weight.bits);
    ScaledTensor code(rows, d, Width::kStored, on_.bits);
    const auto one = static_cast<double>(on_.limit());
    for (int i = 0; i < rows; ++i) {
      std::copy_n(table.weight.x.data() + int64_t{tokens[i]} * d, d, token.row(i));
      token.row_scale[i] = table.weight.row_scale[tokens[i]] / root;
      for (int j = 0; j < d; ++j) {
        const double v = one * codes[i][j];
        code.row(i)[j] = static_cast<int64_t>(v + std::copysign(0.5, v));
      }
      code.row_scale[i] = static_cast<float>(one);
    }
    stream = on_.rescale(on_.add({{token, code}}));
  } else {
    RealTensor x = {rows, d, std::vector<float>(size_t(rows) * d)};
    for (int64_t i = 0; i < rows; ++i) {
      const float* row = table.real.panels + int64_t{tokens[i]} / 8 * 8 * d + tokens[i] % 8;
      for (int64_t j = 0; j < d; ++j) {
        x.x[i * d + j] = row[j * 8] * root + static_cast<float>(codes[i][j]);
      }
    }
    stream = std::move(x);
  }
  if (integer(kResidual)) return scaled(stream);
  return real(stream);
}

Activation ReferenceLayers::norm(const ReferenceNorm& norm, const Activation& x) const {
  if (integer(kLayerNorm)) {
    const ScaledTensor normalised = on_.centre(scaled(x));
    return on_.rescale(on_.add({{on_.gain(normalised, norm.gain), norm.bias}}));
  }
  RealTensor y = real(x);
  for (int64_t i = 0; i < y.rows; ++i) {
    float* row = y.x.data() + i * y.cols;
    const std::vector<float> copy(row, row + y.cols);
    fp32::l1_norm(copy.data(), norm.real.g, norm.real.b, row, y.cols);
  }
  return y;
}

// What a linear map adds up to. The paper stores each intermediate result; in fixed-point
// arithmetic products and bias enter the one sum in which a residual may take part.
std::vector<ScaledTensor> ReferenceLayers::terms(const ReferenceLinear& w, const Activation& x) const {
  ScaledTensor products = on_.settle(on_.matmul(scaled(x), w.weight));
  products = on_.hold(on_.match_columns(products, w.weight.common));
  if (on_.paper()) return {on_.rescale(on_.add({{products, w.bias}}))};
  return {products, w.bias};
}

Activation ReferenceLayers::linear(Module module, const ReferenceLinear& w, const Activation& x, bool relu) const {
  if (!integer(module)) {
    return product(w.real, real(x), relu ? fp32::Into::kRelu : fp32::Into::kStore);
  }
  const ScaledTensor y = on_.add(terms(w, x));
  return on_.rescale(relu ? on_.relu(y) : y);
}

Activation ReferenceLayers::residual(const Activation& stream, Module module, const ReferenceLinear& w,
                                     const Activation& x) const {
  if (!integer(kResidual)) {
    const RealTensor branch =
        integer(module) ? real(on_.add(terms(w, x))) : product(w.real, real(x), fp32::Into::kStore);
    return sum(real(stream), branch);
  }
  std::vector<ScaledTensor> all;
  if (integer(module)) {
    all = terms(w, x);
  } else {
    const RealTensor y = product(w.real, real(x), fp32::Into::kStore);
    const Width width = on_.paper() ? Width::kStored : Width::kWide;
    all.push_back(on_.quantize(y.x, y.rows, y.cols, width));
  }
  all.push_back(scaled(stream));
  return on_.rescale(on_.add(all));
}

Activation ReferenceLayers::attend(const ReferenceAttention& weights, const Activation& q, const Activation& k,
                                   const Activation& v, std::vector<int32_t>* alignment) const {
  if (alignment != nullptr) alignment->assign(rows_of(k), 0);
  if (integer(kAttention)) return attend(weights, scaled(q), scaled(k), scaled(v), alignment);
  return attend(weights, real(q), real(k), real(v), alignment);
}

ScaledTensor ReferenceLayers::attend(const ReferenceAttention& weights, const ScaledTensor& q, const ScaledTensor& k,
                                     const ScaledTensor& v, std::vector<int32_t>* alignment) const {
  const int count = static_cast<int>(shape_.heads), width = q.cols / count;
  const int degree = static_cast<int>(shape_.degree);
  const float root = std::sqrt(static_cast<float>(width));
  std::vector<ScaledTensor> heads;
  for (int h = 0; h < count; ++h) {
    const auto part = [&](const ScaledTensor& a) { return on_.slice(a, 0, a.rows, h * width, width); };
    // Scores have a scale per query and one per key; they are matched along the keys.
    const ScaledTensor products = on_.settle(on_.matmul(part(q), part(k)));  // (queries, keys)
    const ScaledTensor scores = on_.hold(on_.divide(on_.match_columns(products), root));
    const ScaledTensor passed = on_.rescale(on_.relu(on_.add_constant(scores, weights.b[h])));
    const ScaledTensor p = on_.polynomial(passed, degree, weights.delta[h]);
    ScaledTensor multiplied;
    heads.push_back(on_.weighted_mean(p, part(v), &multiplied));  // (queries, width)
    if (alignment != nullptr) add_alignment(multiplied, *alignment);
  }
  return on_.rescale(on_.concat_cols(heads));
}

RealTensor ReferenceLayers::attend(const ReferenceAttention& weights, const RealTensor& q, const RealTensor& k,
                                   const RealTensor& v, std::vector<int32_t>* alignment) const {
  const int heads = static_cast<int>(shape_.heads), d = q.cols, width = d / heads;
  const float scale = 1 / std::sqrt(static_cast<float>(width));
  RealTensor out = {q.rows, d, std::vector<float>(q.x.size())};
  std::vector<float> p(size_t(k.rows) + 3), shares(size_t(k.rows) + 3);
  for (int64_t i = 0; i < q.rows; ++i) {
    for (int h = 0; h < heads; ++h) {
      const int64_t first = h * width, row = i * d + first;
      fp32::scores(&q.x[row], &k.x[first], d, k.rows, width, p.data());
      const float all =
          fp32::polynomial(p.data(), k.rows, scale, weights.b[h], weights.delta[h], static_cast<int>(shape_.degree));
      const float inverse = all > 0 ? 1 / all : 0;
      fp32::weighted_sum(p.data(), &v.x[first], d, k.rows, width, inverse, &out.x[row]);
      if (i == 0) fp32::accumulate(p.data(), inverse * 255, shares.data(), k.rows);
    }
  }
  for (int j = 0; alignment != nullptr && j < k.rows; ++j) {
    (*alignment)[j] = static_cast<int32_t>(shares[j] + 0.5f);
  }
  return out;
}

// Integers that can be compared, by one multiplier per vocabulary row: 15 bits of product times 15
// of multiplier. The paper de-quantises here, at the end of the process.
Logits ReferenceLayers::project(const ReferenceLinear& table, const Activation& x) const {
  Logits logits;
  if (!integer(kProjection)) {
    logits.reals = product(table.real, real(x), fp32::Into::kStore).x;
    return logits;
  }
  const ScaledTensor input = scaled(x), products = on_.matmul(input, table.weight);
  if (on_.paper()) {
    logits.reals = products.dequantized();
    return logits;
  }
  const int64_t weight_limit = (1 << (table.weight.bits - 1)) - 1;
  const auto most = static_cast<uint64_t>(input.cols * on_.limit() * weight_limit);
  const int shift = std::max(0, static_cast<int>(std::bit_width(most)) - 15);
  for (int i = 0; i < products.rows; ++i) {
    for (int j = 0; j < products.cols; ++j) {
      const int32_t m = ratio_q15(table.weight.common, table.weight.row_scale[j]);
      logits.integers.push_back(static_cast<int32_t>(shifted(products.row(i)[j], shift)) * m);
    }
    const float unit = input.row_scale[i] * table.weight.common * 32768.0f;
    logits.units.push_back(std::ldexp(unit, -shift));
  }
  return logits;
}

}  // namespace octavo
