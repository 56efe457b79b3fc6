#include "integer_transformer.h"

#include <algorithm>
#include <bit>

#include "arena.h"
#include "fixed_point.h"
#include "layers/embedding.h"
#include "layers/l1_norm.h"
#include "layers/linear.h"
#include "log_softmax.h"
#include "message.h"

namespace octavo {

Result<std::unique_ptr<IntegerTransformer>> IntegerTransformer::create(std::shared_ptr<const ModelFile> file,
                                                                       const Kernel& kernel) {
  Result<IntegerNetwork> network = IntegerNetwork::view(*file);
  if (!network) return Error{network.error()};
  return std::unique_ptr<IntegerTransformer>(new IntegerTransformer(std::move(file), std::move(*network), kernel));
}

IntegerTransformer::IntegerTransformer(std::shared_ptr<const ModelFile> file, IntegerNetwork network,
                                       const Kernel& kernel)
    : file_(std::move(file)), network_(std::move(network)) {
  work_.kernel = &kernel;
}

// ------------------------------------------------------------------------------------------------------- the network

void IntegerTransformer::encode(std::span<const int32_t> tokens, std::span<const int32_t> offsets) {
  const int width = stream_.width, total = static_cast<int>(tokens.size());
  offsets_.assign(offsets.begin(), offsets.end());
  for (size_t s = 0; s + 1 < offsets.size(); ++s) {
    for (int i = offsets[s]; i < offsets[s + 1]; ++i) {
      embed(work_, network_, tokens[i], &codes_[static_cast<size_t>(i - offsets[s]) * width], stream_.row(i),
            &stream_.s[i]);
    }
  }
  passed(false, 0, "embedding", stream_, total);
  for (size_t n = 0; n < network_.encoder.size(); ++n) encoder_layer(static_cast<int>(n), offsets);
  l1_norm(work_, network_.encoder_norm, stream_, total, normed_);
  passed(false, 0, "norm", normed_, total);

  // Keys and values of every cross-attention, once per sentence.
  const int sentences = static_cast<int>(offsets.size()) - 1;
  for (size_t n = 0; n < network_.decoder.size(); ++n) {
    const AttentionWeights& cross = network_.decoder[n].cross_attn;
    const int64_t first = static_cast<int64_t>(n) * capacity_.source_tokens;
    float *key_scales = cross_.key_scales + first, *value_scales = cross_.value_scales + first;
    linear(work_, cross.k, normed_, total, Nonlinearity::kNone, {cross_.keys + first * width, key_scales, width});
    linear(work_, cross.v, normed_, total, Nonlinearity::kNone, {cross_.values + first * width, value_scales, width});
    for (int s = 0; s < sentences; ++s) {
      const int start = offsets[s], count = offsets[s + 1] - start;
      const int64_t place = static_cast<int64_t>(n) * capacity_.sentences + s;
      cross_key_scale_[place] = match_scales(key_scales + start, count, cross_key_match_ + first + start).scale;
      cross_value_scale_[place] = match_scales(value_scales + start, count, cross_value_match_ + first + start).scale;
    }
  }
}

// x = x + Attention(LN(x));  x = x + FFN(LN(x))
void IntegerTransformer::encoder_layer(int number, std::span<const int32_t> offsets) {
  const EncoderLayerWeights& layer = network_.encoder[number];
  const int total = offsets.back(), width = stream_.width;
  l1_norm(work_, layer.self_norm, stream_, total, normed_);
  linear(work_, layer.self_attn.q, normed_, total, Nonlinearity::kNone, q_);
  linear(work_, layer.self_attn.k, normed_, total, Nonlinearity::kNone, k_);
  linear(work_, layer.self_attn.v, normed_, total, Nonlinearity::kNone, v_);
  for (size_t s = 0; s + 1 < offsets.size(); ++s) {
    const int start = offsets[s], count = offsets[s + 1] - start;
    const KeysValues seen = {k_.row(start),
                             v_.row(start),
                             width,
                             count,
                             match_scales(k_.s + start, count, key_match_),
                             match_scales(v_.s + start, count, value_match_)};
    for (int i = start; i < start + count; ++i) {
      attend(work_, layer.self_attn, network_.shape, q_.row(i), q_.s[i], seen, attended_.row(i), &attended_.s[i],
             nullptr);
    }
  }
  linear_residual(work_, layer.self_attn.out, attended_, total, stream_);
  passed(false, number, "attention", stream_, total);
  feed_forward(layer.ffn_norm, layer.w1, layer.w2, total);
  passed(false, number, "ffn", stream_, total);
}

// x = x + W2·ReLU(W1·LN(x)), a block of rows at a time so that the hidden rows stay in cache.
void IntegerTransformer::feed_forward(const Norm& norm, const Linear& w1, const Linear& w2, int rows) {
  for (int first = 0; first < rows; first += kRowBlock) {
    const int count = std::min(kRowBlock, rows - first);
    const ScaledRows block = {stream_.row(first), stream_.s + first, stream_.width};
    l1_norm(work_, norm, block, count, normed_);
    linear(work_, w1, normed_, count, Nonlinearity::kRelu, hidden_);
    linear_residual(work_, w2, hidden_, count, block);
  }
}

void IntegerTransformer::step(std::span<const StepRow> rows) {
  const int count = static_cast<int>(rows.size()), width = stream_.width;
  for (int i = 0; i < count; ++i) {
    embed(work_, network_, rows[i].token, &codes_[static_cast<size_t>(rows[i].position) * width], stream_.row(i),
          &stream_.s[i]);
  }
  passed(true, 0, "embedding", stream_, count);
  for (size_t n = 0; n < network_.decoder.size(); ++n) decoder_layer(static_cast<int>(n), rows);
  l1_norm(work_, network_.decoder_norm, stream_, count, normed_);
  passed(true, 0, "norm", normed_, count);
  project(count);
}

// y = y + SelfAttention(LN(y));  y = y + CrossAttention(LN(y), encoder);  y = y + FFN(LN(y))
void IntegerTransformer::decoder_layer(int number, std::span<const StepRow> rows) {
  const DecoderLayerWeights& layer = network_.decoder[number];
  const int count = static_cast<int>(rows.size()), width = stream_.width;
  const bool aligns = number == alignment_layer(network_.shape);

  l1_norm(work_, layer.self_norm, stream_, count, normed_);
  linear(work_, layer.self_attn.q, normed_, count, Nonlinearity::kNone, q_);
  linear(work_, layer.self_attn.k, normed_, count, Nonlinearity::kNone, k_);
  linear(work_, layer.self_attn.v, normed_, count, Nonlinearity::kNone, v_);
  for (int i = 0; i < count; ++i) {
    const int64_t start = (static_cast<int64_t>(number) * capacity_.slots + rows[i].slot) * capacity_.target_length;
    const int64_t here = start + rows[i].position;
    std::copy_n(k_.row(i), width, self_.keys + here * width);
    std::copy_n(v_.row(i), width, self_.values + here * width);
    self_.key_scales[here] = k_.s[i];
    self_.value_scales[here] = v_.s[i];
    const int past = rows[i].position + 1;
    const KeysValues seen = {self_.keys + start * width,
                             self_.values + start * width,
                             width,
                             past,
                             match_scales(self_.key_scales + start, past, key_match_),
                             match_scales(self_.value_scales + start, past, value_match_)};
    attend(work_, layer.self_attn, network_.shape, q_.row(i), q_.s[i], seen, attended_.row(i), &attended_.s[i],
           nullptr);
  }
  linear_residual(work_, layer.self_attn.out, attended_, count, stream_);
  passed(true, number, "attention", stream_, count);

  if (!network_.encoder.empty()) {
    l1_norm(work_, layer.cross_norm, stream_, count, normed_);
    linear(work_, layer.cross_attn.q, normed_, count, Nonlinearity::kNone, q_);
    for (int i = 0; i < count; ++i) {
      const int sentence = rows[i].sentence, length = offsets_[sentence + 1] - offsets_[sentence];
      const int64_t start = static_cast<int64_t>(number) * capacity_.source_tokens + offsets_[sentence];
      const int64_t place = static_cast<int64_t>(number) * capacity_.sentences + sentence;
      const KeysValues seen = {cross_.keys + start * width,
                               cross_.values + start * width,
                               width,
                               length,
                               {cross_key_match_ + start, cross_key_scale_[place]},
                               {cross_value_match_ + start, cross_value_scale_[place]}};
      int32_t* alignment = aligns ? alignments_ + static_cast<int64_t>(i) * capacity_.source_tokens : nullptr;
      if (aligns) alignment_lengths_[i] = length;
      int8_t* head_weights = nullptr;
      if (observer_ != nullptr) {
        observed_weights_.resize(static_cast<size_t>(length) * network_.shape.heads);
        head_weights = observed_weights_.data();
      }
      attend(work_, layer.cross_attn, network_.shape, q_.row(i), q_.s[i], seen, attended_.row(i), &attended_.s[i],
             alignment, head_weights);
      if (observer_ != nullptr)
        observer_->attended(number, head_weights, static_cast<int>(network_.shape.heads), length);
    }
    linear_residual(work_, layer.cross_attn.out, attended_, count, stream_);
    passed(true, number, "cross", stream_, count);
  }
  feed_forward(layer.ffn_norm, layer.w1, layer.w2, count);
  passed(true, number, "ffn", stream_, count);
}

// Output projection onto the embedding: INT32 products, made comparable by one multiplier per vocabulary row.
void IntegerTransformer::project(int rows) {
  const Linear& table = network_.embedding;
  const int n = static_cast<int>(table.outputs), k = static_cast<int>(table.inputs);
  // |product| <= k·127·63; the shift leaves 15 bits, so that a product with a 15-bit multiplier fits INT32.
  const int shift = std::max(0, static_cast<int>(std::bit_width(static_cast<uint32_t>(k) * 127 * kWeightMax)) - 15);
  // A part of the vocabulary at a time, so that the products are still in cache when they become logits.
  const int part = std::max(stream_.width, hidden_.width);
  for (int first = 0; first < rows; first += kRowBlock) {
    const int count = std::min(kRowBlock, rows - first);
    std::fill_n(best_ + first, count, 0);
    for (int j = 0; j < n; j += part) {
      const int columns = std::min(part, n - j);
      work_.kernel->product(normed_.row(first), table.panels + static_cast<int64_t>(j) * k, work_.products, count, k,
                            columns, work_.packed, work_.maxima);
      for (int i = 0; i < count; ++i) {
        int32_t* row = logits_ + static_cast<int64_t>(first + i) * n;
        int32_t& best = best_[first + i];
        const int32_t found = j + work_.kernel->logits(work_.products + static_cast<int64_t>(i) * columns, shift,
                                                       table.column + j, row + j, columns);
        if (row[found] > row[best]) best = found;
      }
    }
    for (int i = first; i < first + count; ++i) {
      units_[i] = scaled_shift(normed_.s[i] * table.scale * 32768.0f, shift);
    }
  }
}

// ------------------------------------------------------------------------------------------------ results and memory

std::span<const int32_t> IntegerTransformer::logits(int row) const {
  const size_t n = network_.shape.vocabulary;
  return {logits_ + static_cast<size_t>(row) * n, n};
}

void IntegerTransformer::log_probabilities(int row, float* out) const {
  const std::span<const int32_t> x = logits(row);
  const float inverse = 1.0f / units_[row];
  for (size_t j = 0; j < x.size(); ++j) out[j] = static_cast<float>(x[j]) * inverse;
  log_softmax(out, static_cast<int>(x.size()));
}

std::span<const int32_t> IntegerTransformer::alignment(int row) const {
  if (network_.encoder.empty()) return {};
  return {alignments_ + static_cast<int64_t>(row) * capacity_.source_tokens,
          static_cast<size_t>(alignment_lengths_[row])};
}

void IntegerTransformer::copy_slot(int from, int to, int length) {
  const int64_t width = stream_.width;
  for (size_t n = 0; n < network_.decoder.size(); ++n) {
    const int64_t layer = static_cast<int64_t>(n) * capacity_.slots;
    const int64_t a = (layer + from) * capacity_.target_length, b = (layer + to) * capacity_.target_length;
    std::copy_n(self_.keys + a * width, length * width, self_.keys + b * width);
    std::copy_n(self_.values + a * width, length * width, self_.values + b * width);
    std::copy_n(self_.key_scales + a, length, self_.key_scales + b);
    std::copy_n(self_.value_scales + a, length, self_.value_scales + b);
  }
}

bool IntegerTransformer::observe(Observer* observer) {
  observer_ = observer;
  return true;
}

Status IntegerTransformer::reserve(const Capacity& capacity) {
  if (capacity == capacity_) return std::nullopt;
  Arena measure;
  lay_out(measure, capacity);
  if (measure.used() > memory_.size()) {
    memory_ = {};  // give the old block back first
    memory_ = AlignedBytes(measure.used());
    if (memory_.empty()) {
      capacity_ = {};
      return problem({"out of memory: ", std::to_string(measure.used() >> 20), " MB are needed for ",
                      std::to_string(capacity.source_tokens), " source tokens; translate fewer sentences at a time"});
    }
  }
  Arena arena(memory_.data());
  lay_out(arena, capacity);
  capacity_ = capacity;
  const int longest = std::max(capacity.source_tokens, capacity.target_length);
  if (longest > positions_) {
    codes_.resize(static_cast<size_t>(longest) * network_.shape.width);
    position_codes(network_, longest, codes_.data());
    positions_ = longest;
  }
  return std::nullopt;
}

void IntegerTransformer::lay_out(Arena& arena, const Capacity& capacity) {
  const NetworkShape& shape = network_.shape;
  const int width = static_cast<int>(shape.width), ffn = static_cast<int>(shape.ffn),
            layers = static_cast<int>(shape.decoder_layers);
  const int rows = std::max(capacity.source_tokens, capacity.slots);
  const int keys = padded_keys(std::max(capacity.source_tokens, capacity.target_length));
  const int widest = std::max(width, ffn);
  const auto scaled_rows = [&](int count, int columns) {
    int8_t* x = arena.take<int8_t>(static_cast<int64_t>(count) * columns);
    return ScaledRows{x, arena.take<float>(count), columns};
  };
  const auto cache = [&](int64_t tokens) {
    int8_t* k = arena.take<int8_t>(tokens * width);
    int8_t* v = arena.take<int8_t>(tokens * width);
    float* key_scales = arena.take<float>(tokens);
    return Cache{k, v, key_scales, arena.take<float>(tokens)};
  };
  work_.packed = arena.take<std::byte>(static_cast<int64_t>(kRowBlock) * widest * 2);
  work_.products = arena.take<int32_t>(static_cast<int64_t>(kRowBlock) * widest);
  work_.maxima = arena.take<int32_t>(kRowBlock);
  work_.wide = arena.take<int16_t>(std::max(widest, keys));
  work_.wide2 = arena.take<int16_t>(width);
  work_.scores = arena.take<int32_t>(keys);
  work_.weights = arena.take<int8_t>(keys);
  work_.head_sums = arena.take<int32_t>(width);
  work_.head_scales = arena.take<float>(shape.heads);
  work_.head_shifts = arena.take<int32_t>(shape.heads);
  stream_ = scaled_rows(rows, width);
  normed_ = scaled_rows(rows, width);
  q_ = scaled_rows(rows, width);
  k_ = scaled_rows(rows, width);
  v_ = scaled_rows(rows, width);
  attended_ = scaled_rows(rows, width);
  hidden_ = scaled_rows(kRowBlock, ffn);
  self_ = cache(static_cast<int64_t>(layers) * capacity.slots * capacity.target_length);
  cross_ = cache(static_cast<int64_t>(layers) * capacity.source_tokens);
  key_match_ = arena.take<uint16_t>(keys);
  value_match_ = arena.take<uint16_t>(keys);
  cross_key_match_ = arena.take<uint16_t>(padded_keys(layers * capacity.source_tokens + 15));
  cross_value_match_ = arena.take<uint16_t>(padded_keys(layers * capacity.source_tokens + 15));
  cross_key_scale_ = arena.take<float>(static_cast<int64_t>(layers) * capacity.sentences);
  cross_value_scale_ = arena.take<float>(static_cast<int64_t>(layers) * capacity.sentences);
  logits_ = arena.take<int32_t>(static_cast<int64_t>(capacity.slots) * shape.vocabulary);
  units_ = arena.take<float>(capacity.slots);
  best_ = arena.take<int32_t>(capacity.slots);
  alignments_ = arena.take<int32_t>(static_cast<int64_t>(capacity.slots) * capacity.source_tokens);
  alignment_lengths_ = arena.take<int32_t>(capacity.slots);
}

}  // namespace octavo
