#include "reference_transformer.h"

#include <algorithm>
#include <string>
#include <utility>

#include "log_softmax.h"
#include "message.h"

namespace octavo {

Result<std::unique_ptr<ReferenceTransformer>> ReferenceTransformer::create(std::shared_ptr<const ModelFile> file,
                                                                           const ReferenceOptions& options) {
  const int bits = options.arithmetic.bits, weight_bits = options.weight_bits;
  if (std::min(bits, weight_bits) < 6 || std::max(bits, weight_bits) > 10) {
    return problem({"activations and weights have 6 to 10 bits"});
  }
  if (file->shape().attention != AttentionKind::kPolynomial || file->shape().norm != NormKind::kL1) {
    return problem({"scale propagation needs polynomial attention and L1 norm"});
  }
  ReferenceNetwork network;
  if (file->flavour() == Flavour::kFloat32) {
    const Result<FloatNetwork> real = FloatNetwork::view(*file);
    if (!real) return Error{real.error()};
    network = reference_network(*real, options);
  } else {
    if (options.modules != kAllModules) {
      return problem({"only an FP32 model can have modules that are not in integers"});
    }
    const Result<IntegerNetwork> integers = IntegerNetwork::view(*file);
    if (!integers) return Error{integers.error()};
    network = reference_network(*integers, options);
  }
  return std::unique_ptr<ReferenceTransformer>(new ReferenceTransformer(std::move(file), std::move(network), options));
}

ReferenceTransformer::ReferenceTransformer(std::shared_ptr<const ModelFile> file, ReferenceNetwork network,
                                           const ReferenceOptions& options)
    : file_(std::move(file)),
      network_(std::move(network)),
      encoder_(options, network_.shape, options.arithmetic.granularity),
      decoder_(options, network_.shape, Granularity::kToken) {}

// ------------------------------------------------------------------------------------ the network

// One sentence at a time: its rows may share a scale.
void ReferenceTransformer::encode(std::span<const int32_t> tokens, std::span<const int32_t> offsets) {
  cross_.clear();
  if (network_.encoder.empty()) return;
  for (size_t s = 0; s + 1 < offsets.size(); ++s) {
    const auto sentence = tokens.subspan(offsets[s], offsets[s + 1] - offsets[s]);
    std::vector<const double*> codes;
    for (size_t i = 0; i < sentence.size(); ++i) codes.push_back(code(static_cast<int>(i)));
    Activation x = encoder_.embed(network_.embedding, sentence, codes);
    for (size_t n = 0; n < network_.encoder.size(); ++n) {
      x = encoder_layer(static_cast<int>(n), std::move(x));
    }
    const Activation memory = encoder_.norm(network_.encoder_norm, x);
    show("encoder_norm", -1, "", memory);
    std::vector<KeysValues>& cross = cross_.emplace_back();
    for (const ReferenceLayer& layer : network_.decoder) {
      cross.push_back({encoder_.linear(kAttention, layer.cross_attn.k, memory),
                       encoder_.linear(kAttention, layer.cross_attn.v, memory)});
    }
  }
}

// x = x + Attention(LN(x));  x = x + FFN(LN(x))
Activation ReferenceTransformer::encoder_layer(int number, Activation x) const {
  const ReferenceLayer& layer = network_.encoder[static_cast<size_t>(number)];
  const ReferenceAttention& attention = layer.self_attn;
  const Activation normed = encoder_.norm(layer.self_norm, x);
  show("encoder", number, "self_norm", normed);
  const Activation q = encoder_.linear(kAttention, attention.q, normed);
  const Activation k = encoder_.linear(kAttention, attention.k, normed);
  const Activation v = encoder_.linear(kAttention, attention.v, normed);
  const Activation attended = encoder_.attend(attention, q, k, v);
  x = encoder_.residual(x, kAttention, attention.out, attended);
  show("encoder", number, "self_attn", x);
  return feed_forward(encoder_, layer, "encoder", number, std::move(x));
}

// x = x + W2·ReLU(W1·LN(x))
Activation ReferenceTransformer::feed_forward(const ReferenceLayers& on, const ReferenceLayer& layer, const char* side,
                                              int number, Activation x) const {
  const Activation normed = on.norm(layer.ffn_norm, x);
  show(side, number, "ffn_norm", normed);
  const Activation hidden = on.linear(kFeedForward, layer.w1, normed, /*relu=*/true);
  x = on.residual(x, kFeedForward, layer.w2, hidden);
  show(side, number, "ffn", x);
  return x;
}

void ReferenceTransformer::step(std::span<const StepRow> rows) {
  std::vector<int32_t> tokens;
  std::vector<const double*> codes;
  for (const StepRow& row : rows) {
    tokens.push_back(row.token);
    codes.push_back(code(row.position));
  }
  alignments_.assign(rows.size(), {});
  Activation y = decoder_.embed(network_.embedding, tokens, codes);
  for (size_t n = 0; n < network_.decoder.size(); ++n) {
    y = decoder_layer(static_cast<int>(n), rows, std::move(y));
  }
  const Activation normed = decoder_.norm(network_.decoder_norm, y);
  show("decoder_norm", -1, "", normed);
  logits_ = decoder_.project(network_.embedding, normed);
}

// y = y + SelfAttention(LN(y));  y = y + CrossAttention(LN(y), encoder);  y = y + FFN(LN(y))
Activation ReferenceTransformer::decoder_layer(int number, std::span<const StepRow> rows, Activation y) {
  const ReferenceLayer& layer = network_.decoder[static_cast<size_t>(number)];
  const Activation self_normed = decoder_.norm(layer.self_norm, y);
  show("decoder", number, "self_norm", self_normed);
  y = decoder_.residual(y, kAttention, layer.self_attn.out, self_attention(number, rows, self_normed));
  show("decoder", number, "self_attn", y);
  if (!network_.encoder.empty()) {
    const Activation cross_normed = decoder_.norm(layer.cross_norm, y);
    show("decoder", number, "cross_norm", cross_normed);
    y = decoder_.residual(y, kAttention, layer.cross_attn.out, cross_attention(number, rows, cross_normed));
    show("decoder", number, "cross_attn", y);
  }
  return feed_forward(decoder_, layer, "decoder", number, std::move(y));
}

// Each row appends its key and value to its slot and attends to all of them.
Activation ReferenceTransformer::self_attention(int number, std::span<const StepRow> rows, const Activation& x) {
  const auto n = static_cast<size_t>(number);
  const ReferenceAttention& weights = network_.decoder[n].self_attn;
  const Activation q = decoder_.linear(kAttention, weights.q, x);
  const Activation k = decoder_.linear(kAttention, weights.k, x);
  const Activation v = decoder_.linear(kAttention, weights.v, x);
  std::vector<Activation> attended;
  for (int i = 0; i < static_cast<int>(rows.size()); ++i) {
    const int past = rows[static_cast<size_t>(i)].position;
    KeysValues& seen = self_[static_cast<size_t>(rows[static_cast<size_t>(i)].slot)][n];
    const auto append = [&](Activation& to, const Activation& from) {
      Activation added = slice_rows(from, i, 1);
      if (past == 0) return void(to = std::move(added));
      to = join_rows({{slice_rows(to, 0, past), std::move(added)}});
    };
    append(seen.keys, k);
    append(seen.values, v);
    attended.push_back(decoder_.attend(weights, slice_rows(q, i, 1), seen.keys, seen.values));
  }
  return join_rows(attended);
}

Activation ReferenceTransformer::cross_attention(int number, std::span<const StepRow> rows, const Activation& x) {
  const auto n = static_cast<size_t>(number);
  const ReferenceAttention& weights = network_.decoder[n].cross_attn;
  const Activation q = decoder_.linear(kAttention, weights.q, x);
  const bool aligns = number == alignment_layer(network_.shape);
  std::vector<Activation> attended;
  for (size_t i = 0; i < rows.size(); ++i) {
    const KeysValues& seen = cross_[static_cast<size_t>(rows[i].sentence)][n];
    attended.push_back(decoder_.attend(weights, slice_rows(q, static_cast<int>(i), 1), seen.keys, seen.values,
                                       aligns ? &alignments_[i] : nullptr));
  }
  return join_rows(attended);
}

void ReferenceTransformer::show(const char* side, int number, const char* what, const Activation& values) const {
  if (!recorder_) return;
  const std::string name = number < 0 ? side : concat({side, ".", std::to_string(number), ".", what});
  const std::vector<float> numbers = values_of(values);
  recorder_(name, rows_of(values), static_cast<int>(network_.shape.width), numbers.data());
}

// ----------------------------------------------------------------------------- results and memory

std::span<const int32_t> ReferenceTransformer::logits(int row) const {
  const size_t n = network_.shape.vocabulary;
  if (logits_.integers.empty()) return {};
  return std::span(logits_.integers).subspan(static_cast<size_t>(row) * n, n);
}

int32_t ReferenceTransformer::best_token(int row) const {
  const size_t n = network_.shape.vocabulary, first = static_cast<size_t>(row) * n;
  const auto first_maximum = [&](const auto& x) {
    const auto begin = x.begin() + static_cast<std::ptrdiff_t>(first);
    return static_cast<int32_t>(std::max_element(begin, begin + static_cast<std::ptrdiff_t>(n)) - begin);
  };
  return logits_.integers.empty() ? first_maximum(logits_.reals) : first_maximum(logits_.integers);
}

void ReferenceTransformer::log_probabilities(int row, float* out) const {
  const size_t n = network_.shape.vocabulary, first = static_cast<size_t>(row) * n;
  if (logits_.integers.empty()) {
    std::copy_n(logits_.reals.begin() + static_cast<std::ptrdiff_t>(first), n, out);
  } else {
    const float inverse = 1.0f / logit_unit(row);
    for (size_t j = 0; j < n; ++j) {
      out[j] = static_cast<float>(logits_.integers[first + j]) * inverse;
    }
  }
  log_softmax(out, static_cast<int>(n));
}

std::span<const int32_t> ReferenceTransformer::alignment(int row) const {
  return alignments_[static_cast<size_t>(row)];
}

void ReferenceTransformer::copy_slot(int from, int to, int length) {
  if (from == to || length == 0) return;
  for (size_t n = 0; n < network_.decoder.size(); ++n) {
    const KeysValues& source = self_[static_cast<size_t>(from)][n];
    self_[static_cast<size_t>(to)][n] = {slice_rows(source.keys, 0, length), slice_rows(source.values, 0, length)};
  }
}

// Memory is taken as it is needed; only the position codes are made in advance, each by turning the
// angles of the one before.
Status ReferenceTransformer::reserve(const Capacity& capacity) {
  const size_t d = network_.shape.width, half = d / 2;
  const auto positions = static_cast<size_t>(std::max(capacity.source_tokens, capacity.target_length));
  self_.resize(std::max(self_.size(), static_cast<size_t>(capacity.slots)));
  for (std::vector<KeysValues>& slot : self_) slot.resize(network_.decoder.size());
  if (codes_.size() >= positions * d) return std::nullopt;
  codes_.resize(positions * d);
  for (size_t i = 0; i < half; ++i) {
    const double turn_cos = network_.rotation[2 * i], turn_sin = network_.rotation[2 * i + 1];
    double c = 1, s = 0;
    for (size_t p = 0; p < positions; ++p) {
      codes_[p * d + i] = s;
      codes_[p * d + half + i] = c;
      const double next = c * turn_cos - s * turn_sin;
      s = s * turn_cos + c * turn_sin;
      c = next;
    }
  }
  return std::nullopt;
}

size_t ReferenceTransformer::memory_bytes() const {
  size_t bytes = 0;
  const auto add = [&](const Activation& a) {
    bytes += std::visit([](const auto& tensor) { return tensor.x.size() * sizeof(tensor.x[0]); }, a);
  };
  for (const auto* caches : {&cross_, &self_}) {
    for (const std::vector<KeysValues>& layers : *caches) {
      for (const KeysValues& seen : layers) add(seen.keys), add(seen.values);
    }
  }
  return bytes;
}

}  // namespace octavo
