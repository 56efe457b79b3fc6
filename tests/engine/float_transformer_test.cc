// The FP32 twin against the network of models/train/model.py, written out naively in doubles.
#include "float_transformer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/float_kernel.h"
#include "load_transformer.h"
#include "quantizer.h"

namespace octavo {
namespace {

using Row = std::vector<double>;
using Rows = std::vector<Row>;
using Floats = std::vector<float>;
using Tokens = std::vector<int32_t>;
using Step = std::vector<StepRow>;

class Reference {
 public:
  Reference(const NetworkShape& s, const FloatWeights& w) : shape_(s), weights_(w) {}

  Rows encode(const Tokens& tokens) const {
    Rows x = embed(tokens);
    for (uint32_t n = 0; n < shape_.encoder_layers; ++n) layer("encoder." + std::to_string(n), nullptr, false, x);
    return norm("encoder_norm", x);
  }

  // Logits after each prefix of `inputs`, computed for the whole sequence at once.
  Rows decode(const Tokens& inputs, const Rows* memory) const {
    Rows y = embed(inputs);
    for (uint32_t n = 0; n < shape_.decoder_layers; ++n) layer("decoder." + std::to_string(n), memory, true, y);
    return linear("embedding", norm("decoder_norm", y));
  }

 private:
  void layer(const std::string& name, const Rows* memory, bool causal, Rows& x) const {
    const size_t d = shape_.width;
    const Rows qkv = linear(name + ".self_attn.qkv", norm(name + ".self_norm", x));
    x = linear(name + ".self_attn.out", attend(name + ".self_attn", qkv, qkv, d, causal), x);
    if (memory != nullptr) {
      const Rows q = linear(name + ".cross_attn.q", norm(name + ".cross_norm", x));
      const Rows kv = linear(name + ".cross_attn.kv", *memory);
      x = linear(name + ".cross_attn.out", attend(name + ".cross_attn", q, kv, 0, false), x);
    }
    Rows hidden = linear(name + ".ffn.w1", norm(name + ".ffn_norm", x));
    for (Row& row : hidden) {
      for (double& h : row) h = std::max(h, 0.0);
    }
    x = linear(name + ".ffn.w2", hidden, x);
  }

  // Keys start at column k0 of kv, values at k0 + width.
  Rows attend(const std::string& name, const Rows& q, const Rows& kv, size_t k0, bool causal) const {
    const size_t heads = shape_.heads, head = shape_.width / heads, v0 = k0 + shape_.width;
    Rows out(q.size(), Row(shape_.width));
    for (size_t i = 0; i < q.size(); ++i) {
      for (size_t h = 0; h < heads; ++h) {
        Row p(causal ? i + 1 : kv.size());
        double sum = 0;
        for (size_t j = 0; j < p.size(); ++j) {
          for (size_t c = h * head; c < (h + 1) * head; ++c) p[j] += q[i][c] * kv[j][k0 + c];
          sum += p[j] = weight(name, h, p[j] / std::sqrt(double(head)));
        }
        for (size_t j = 0; j < p.size(); ++j) {
          for (size_t c = h * head; c < (h + 1) * head; ++c) out[i][c] += p[j] / sum * kv[j][v0 + c];
        }
      }
    }
    return out;
  }

  double weight(const std::string& name, size_t head, double score) const {
    if (shape_.attention == AttentionKind::kSoftmax) return std::exp(score);
    const double base = std::max(score + at(name + ".b")[head], 0.0);
    return std::pow(base, shape_.degree) + std::abs(at(name + ".delta")[head]);
  }

  Rows norm(const std::string& name, Rows x) const {
    const Floats &g = at(name + ".g"), &b = at(name + ".b");
    const double n = shape_.width, c = std::sqrt(std::acos(-1.0) / 2);
    for (Row& row : x) {
      double mean = 0, l1 = 0, l2 = 0;
      for (const double v : row) mean += v / n;
      for (const double v : row) l1 += std::abs(v - mean) / n, l2 += (v - mean) * (v - mean) / n;
      const double size = shape_.norm == NormKind::kL1 ? c * l1 + 1e-6 : std::sqrt(l2 + 1e-5);
      for (size_t i = 0; i < row.size(); ++i) row[i] = g[i] * (row[i] - mean) / size + b[i];
    }
    return x;
  }

  // y + x·Wᵀ + b, where y may be left out.
  Rows linear(const std::string& name, const Rows& x, Rows y = {}) const {
    const FloatTensor& w = weights_.find(name + ".weight")->second;
    const size_t outputs = w.shape[0], inputs = w.shape[1];
    y.resize(x.size(), Row(outputs));
    for (size_t i = 0; i < x.size(); ++i) {
      for (size_t j = 0; j < outputs; ++j) {
        if (name != "embedding") y[i][j] += at(name + ".bias")[j];
        for (size_t k = 0; k < inputs; ++k) y[i][j] += x[i][k] * w.values[j * inputs + k];
      }
    }
    return y;
  }

  Rows embed(const Tokens& tokens) const {
    const size_t d = shape_.width, half = d / 2;
    Rows x(tokens.size(), Row(d));
    for (size_t p = 0; p < tokens.size(); ++p) {
      for (size_t c = 0; c < d; ++c) {
        const double angle = double(p) * std::pow(10000.0, -double(c % half) / double(half));
        const double token = at("embedding.weight")[size_t(tokens[p]) * d + c];
        x[p][c] = token * std::sqrt(double(d)) + (c < half ? std::sin(angle) : std::cos(angle));
      }
    }
    return x;
  }

  const Floats& at(const std::string& name) const { return weights_.find(name)->second.values; }

  NetworkShape shape_;
  const FloatWeights& weights_;
};

enum Kind { kOurs, kVanilla };

// 1040 hidden units are more than the product takes in one pass.
NetworkShape make_shape(uint32_t encoder, uint32_t decoder, uint32_t degree, Kind kind, uint32_t width = 48,
                        uint32_t heads = 3, uint32_t ffn = 112) {
  const auto attention = kind == kOurs ? AttentionKind::kPolynomial : AttentionKind::kSoftmax;
  const auto norm = kind == kOurs ? NormKind::kL1 : NormKind::kL2;
  return {80, width, ffn, heads, encoder, decoder, degree, attention, norm, 128, 2};
}

Tokens make_tokens(size_t count, uint32_t seed) {
  Tokens tokens(count);
  for (int32_t& t : tokens) t = int32_t((seed = seed * 1664525u + 1013904223u) >> 16) % 80;
  return tokens;
}

auto make_file(Flavour flavour, const NetworkShape& shape, const FloatWeights& weights) {
  Result<AlignedBytes> bytes = make_model(flavour, shape, weights, "{}", "");
  EXPECT_TRUE(bytes.ok()) << bytes.error();
  Result<ModelFile> file = ModelFile::open(std::move(*bytes));
  EXPECT_TRUE(file.ok()) << file.error();
  return std::make_shared<const ModelFile>(std::move(*file));
}

struct Model {
  explicit Model(const NetworkShape& shape) : weights(random_weights(shape, 7)), reference(shape, weights) {
    auto made = FloatTransformer::create(make_file(Flavour::kFloat32, shape, weights));
    EXPECT_TRUE(made.ok()) << made.error();
    engine = std::move(*made);
  }

  void reserve(const Capacity& capacity) {
    const Status status = engine->reserve(capacity);
    EXPECT_FALSE(status.has_value()) << status->message;
  }

  void encode(const std::vector<Tokens>& sentences) {
    Tokens all, offsets = {0};
    for (const Tokens& s : sentences) {
      all.insert(all.end(), s.begin(), s.end());
      offsets.push_back(int32_t(all.size()));
    }
    engine->encode(all, offsets);
  }

  Floats log_probabilities(int row) const {
    Floats out(engine->shape().vocabulary);
    engine->log_probabilities(row, out.data());
    return out;
  }

  FloatWeights weights;
  Reference reference;
  std::unique_ptr<FloatTransformer> engine;
};

class FloatTransformerTest : public testing::TestWithParam<NetworkShape> {};

INSTANTIATE_TEST_SUITE_P(Shapes, FloatTransformerTest,
                         testing::Values(make_shape(2, 2, 3, kOurs), make_shape(1, 1, 1, kOurs),
                                         make_shape(1, 2, 2, kOurs), make_shape(1, 1, 4, kOurs),
                                         make_shape(1, 1, 5, kOurs), make_shape(2, 2, 3, kVanilla),
                                         make_shape(0, 2, 3, kOurs), make_shape(0, 2, 3, kVanilla),
                                         make_shape(1, 1, 3, kOurs, 16, 2, 1040),
                                         make_shape(1, 1, 3, kVanilla, 80, 2)));

// A ragged batch, one token at a time, against each sentence alone and all at once.
TEST_P(FloatTransformerTest, IncrementalBatchEqualsWholeSequences) {
  Model model(GetParam());
  const bool translates = GetParam().encoder_layers > 0;
  const std::vector<Tokens> sources = {make_tokens(5, 1), make_tokens(1, 2), make_tokens(70, 3)};
  const std::vector<Tokens> inputs = {make_tokens(9, 5), make_tokens(1, 6), make_tokens(14, 7)};
  model.reserve({3, 76, 3, 14});
  if (translates) model.encode(sources);
  std::vector<Rows> expected;
  for (size_t s = 0; s < 3; ++s) {
    const Rows memory = translates ? model.reference.encode(sources[s]) : Rows{};
    expected.push_back(model.reference.decode(inputs[s], translates ? &memory : nullptr));
  }
  for (size_t t = 0; t < 14; ++t) {
    Step rows;
    for (int s = 2; s >= 0; --s) {  // slots need not be in order, nor equal to sentences
      const Tokens& mine = inputs[size_t(s)];
      if (t < mine.size()) rows.push_back({s, (s + 1) % 3, int(t), mine[t]});
    }
    model.engine->step(rows);
    EXPECT_EQ(model.engine->alignment(0).empty(), !translates);
    for (size_t r = 0; r < rows.size(); ++r) {
      const Row& want = expected[size_t(rows[r].sentence)][t];
      const std::span<const float> got = model.engine->logits(int(r));
      for (size_t j = 0; j < want.size(); ++j) ASSERT_NEAR(got[j], want[j], 1e-4) << "step " << t << " row " << r;
      double sum = 0;
      for (const double x : want) sum += std::exp(x);
      EXPECT_NEAR(model.log_probabilities(int(r))[7], want[7] - std::log(sum), 1e-4);
      const auto best = std::max_element(got.begin(), got.end()) - got.begin();
      EXPECT_EQ(model.engine->best_token(int(r)), best);
    }
  }
}

// Log-probabilities of sentence 0 after `inputs`, in the company of `others` sentences.
Floats in_company(const NetworkShape& shape, int others) {
  Model model(shape);
  const Tokens inputs = make_tokens(6, 40);
  std::vector<Tokens> sources;
  for (int s = 0; s <= others; ++s) sources.push_back(make_tokens(size_t(3 + s * 5 % 17), 20 + uint32_t(s)));
  std::swap(sources.front(), sources.back());  // the sentence in question comes last
  model.reserve({others + 1, 20 * (others + 1), others + 1, 6});
  if (shape.encoder_layers > 0) model.encode(sources);
  for (int t = 0; t < 6; ++t) {
    Step rows;
    for (int s = 0; s <= others; ++s) rows.push_back({s, s, t, inputs[size_t(t)] ^ (s == others ? 0 : 1)});
    model.engine->step(rows);
  }
  return model.log_probabilities(others);
}

TEST_P(FloatTransformerTest, ARowDoesNotDependOnItsBatch) {
  const Floats alone = in_company(GetParam(), 0);
  for (const int others : {1, 2, 3, 4, 6, 69}) EXPECT_EQ(in_company(GetParam(), others), alone) << others;
}

TEST_P(FloatTransformerTest, CopiedSlotContinuesTheSameHistory) {
  Model model(GetParam());
  model.reserve({1, 7, 3, 8});
  if (GetParam().encoder_layers > 0) model.encode({make_tokens(7, 9)});
  for (int t = 0; t < 4; ++t) model.engine->step(Step{{0, 1, t, 10 + t}, {0, 2, t, 60 - t}});
  model.engine->copy_slot(1, 0, 4);
  model.engine->step(Step{{0, 0, 4, 33}, {0, 1, 4, 33}, {0, 2, 4, 33}});
  EXPECT_EQ(model.log_probabilities(0), model.log_probabilities(1));
  EXPECT_NE(model.log_probabilities(0), model.log_probabilities(2));
}

TEST_P(FloatTransformerTest, AlignmentSharesOutTheWholeAttention) {
  Model model(GetParam());
  model.reserve({2, 20, 2, 2});
  if (GetParam().encoder_layers == 0) return;  // nothing to align with
  model.encode({make_tokens(4, 1), make_tokens(11, 2)});
  model.engine->step(Step{{1, 0, 0, 2}, {0, 1, 0, 2}});
  for (const int row : {0, 1}) {
    const std::span<const int32_t> shares = model.engine->alignment(row);
    ASSERT_EQ(shares.size(), row == 0 ? 11u : 4u);
    int sum = 0;
    for (const int32_t share : shares) sum += share;
    EXPECT_NEAR(sum, 255 * int(GetParam().heads), double(shares.size()));
    EXPECT_GE(*std::min_element(shares.begin(), shares.end()), 0);
  }
}

TEST(FloatTransformer, ShowsEveryNormAndResidual) {
  Model model(make_shape(1, 1, 3, kOurs));
  std::map<std::string, int> rows;
  model.engine->record([&](std::string_view name, int count, int width, const float* values) {
    rows[std::string(name)] += count;
    EXPECT_EQ(width, 48);
    EXPECT_TRUE(std::isfinite(values[0]));
  });
  model.reserve({1, 100, 1, 1});
  model.encode({make_tokens(100, 3)});
  model.engine->step(Step{{0, 0, 0, 2}});
  EXPECT_EQ(rows.size(), 12u);  // 2 norms and 2 sums, 3 and 3, and the last norm of each side
  EXPECT_EQ(rows["encoder.0.ffn_norm"], 100);
}

TEST(FloatTransformer, MemoryIsTakenOnceAndRefusedPolitely) {
  Model model(make_shape(1, 1, 3, kOurs));
  model.reserve({2, 30, 4, 10});
  const size_t bytes = model.engine->memory_bytes();
  model.reserve({1, 20, 4, 9});
  EXPECT_EQ(model.engine->memory_bytes(), bytes);
#ifndef __SANITIZE_ADDRESS__  // whose allocator ends the program instead of returning null
  const Status status = model.engine->reserve({1 << 20, 1 << 30, 1 << 20, 1 << 20});
  ASSERT_TRUE(status.has_value());
  EXPECT_NE(status->message.find("MB"), std::string::npos);
#endif
  model.reserve({2, 30, 4, 10});  // and goes on afterwards
  model.encode({make_tokens(3, 1)});
}

TEST(FloatKernel, ExponentialIsExactToTheLastDigits) {
  for (float x = -86; x < 86; x += 0.037f) {
    float y[4] = {x, 0, 1, -1000};
    fp32::exponential(y, y, 4);
    EXPECT_NEAR(y[0] / std::exp(double(x)), 1, 1e-6);
    EXPECT_EQ(y[1], 1);
    EXPECT_LT(y[3], 1e-37f);
  }
}

TEST(FloatKernel, TheFirstMaximumWins) {
  Floats x(64, -3);
  EXPECT_EQ(fp32::arg_max(x.data(), 64), 0);
  x[5] = x[6] = x[63] = std::nanf("");
  x[37] = x[41] = x[50] = 2;
  EXPECT_EQ(fp32::arg_max(x.data(), 64), 37);
}

TEST(LoadTransformer, ChoosesByFlavour) {
  const NetworkShape shape = make_shape(1, 1, 3, kOurs);
  for (const Flavour flavour : {Flavour::kInt8, Flavour::kFloat32}) {
    const auto file = make_file(flavour, shape, random_weights(shape, 1));
    const auto loaded = load_transformer(file);
    ASSERT_TRUE(loaded.ok()) << loaded.error();
    EXPECT_EQ(FloatTransformer::create(file).ok(), flavour == Flavour::kFloat32);
  }
}

}  // namespace
}  // namespace octavo
