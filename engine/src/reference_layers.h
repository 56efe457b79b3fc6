// The layers of the Integer Transformer, written with the operations of scale_propagation.h. A module
// that an ablation leaves in FP32 de-quantises its inputs, computes with floats and hands floats on.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "reference_network.h"
#include "scale_propagation.h"

namespace octavo {

struct RealTensor {
  int rows = 0, cols = 0;
  std::vector<float> x;  // (rows, cols)
};

// A tensor between layers: {x, s}, or plain numbers.
using Activation = std::variant<ScaledTensor, RealTensor>;

int rows_of(const Activation& a);
std::vector<float> values_of(const Activation& a);  // (rows, cols)
Activation slice_rows(const Activation& a, int first, int rows);
Activation join_rows(std::span<const Activation> parts);  // all of one kind

// Logits of some rows: integers with a unit per row, or plain numbers.
struct Logits {
  std::vector<int32_t> integers;  // (rows, vocabulary); a logit is integer / unit
  std::vector<float> units;       // (rows)
  std::vector<float> reals;       // (rows, vocabulary), if there are no integers
};

class ReferenceLayers {
 public:
  // The decoder advances by one row per sentence: its scales are per token in any case.
  ReferenceLayers(const ReferenceOptions& options, const NetworkShape& shape, Granularity granularity);

  // √d·E[token] + code, as the residual stream is kept.   codes: (tokens, d) in -1..1
  Activation embed(const ReferenceLinear& table, std::span<const int32_t> tokens,
                   std::span<const double* const> codes) const;
  // g ⊙ (x-μ) / (C·mean|x-μ|) + b
  Activation norm(const ReferenceNorm& norm, const Activation& x) const;
  // x·Wᵀ + b, or its ReLU, as a part of `module`.
  Activation linear(Module module, const ReferenceLinear& w, const Activation& x, bool relu = false) const;
  // stream + x·Wᵀ + b
  Activation residual(const Activation& stream, Module module, const ReferenceLinear& w, const Activation& x) const;
  // Σ_j Poly(q·k_j/√w)·v_j / Σ_j Poly(q·k_j/√w) in each head, Poly(x) = ReLU(x + b)ⁿ + |δ|.
  // q: (queries, d); k, v: (keys, d). `alignment`, unless null, gets the attention of the first
  // query, 255 per head.
  Activation attend(const ReferenceAttention& weights, const Activation& q, const Activation& k, const Activation& v,
                    std::vector<int32_t>* alignment = nullptr) const;
  Logits project(const ReferenceLinear& table, const Activation& x) const;

 private:
  bool integer(Module module) const { return (options_.modules & module) != 0; }
  ScaledTensor scaled(const Activation& a) const;
  std::vector<ScaledTensor> terms(const ReferenceLinear& w, const Activation& x) const;
  ScaledTensor attend(const ReferenceAttention& weights, const ScaledTensor& q, const ScaledTensor& k,
                      const ScaledTensor& v, std::vector<int32_t>* alignment) const;
  RealTensor attend(const ReferenceAttention& weights, const RealTensor& q, const RealTensor& k, const RealTensor& v,
                    std::vector<int32_t>* alignment) const;

  ReferenceOptions options_;
  NetworkShape shape_;
  ScalePropagation on_;  // the operations
};

}  // namespace octavo
