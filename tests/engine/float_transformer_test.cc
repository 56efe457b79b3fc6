// The FP32 twin against the network as models/train/model.py defines it, written out naively in
// double precision.
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
using Tokens = std::vector<int32_t>;

class Reference {
 public:
  Reference(const NetworkShape& shape, const FloatWeights& weights)
      : shape_(shape), weights_(weights) {}

  Rows encode(const Tokens& tokens) const {
    Rows x = embed(tokens);
    for (uint32_t n = 0; n < shape_.encoder_layers; ++n)
      x = layer("encoder." + std::to_string(n), x, nullptr, false);
    return norm("encoder_norm", x);
  }

  // Logits after each prefix of `inputs`, computed for the whole sequence at once.
  Rows decode(const Tokens& inputs, const Rows* memory) const {
    Rows y = embed(inputs);
    for (uint32_t n = 0; n < shape_.decoder_layers; ++n)
      y = layer("decoder." + std::to_string(n), y, memory, true);
    return linear("embedding", norm("decoder_norm", y), false);
  }

 private:
  Rows layer(const std::string& name, Rows x, const Rows* memory, bool causal) const {
    const Rows qkv = linear(name + ".self_attn.qkv", norm(name + ".self_norm", x), true);
    add(x, attend(name + ".self_attn", columns(qkv, 0), columns(qkv, 1), columns(qkv, 2), causal));
    if (memory != nullptr) {
      const Rows q = linear(name + ".cross_attn.q", norm(name + ".cross_norm", x), true);
      const Rows kv = linear(name + ".cross_attn.kv", *memory, true);
      add(x, attend(name + ".cross_attn", q, columns(kv, 0), columns(kv, 1), false));
    }
    Rows hidden = linear(name + ".ffn.w1", norm(name + ".ffn_norm", x), true);
    for (Row& row : hidden) {
      for (double& h : row) h = std::max(h, 0.0);
    }
    add(x, linear(name + ".ffn.w2", hidden, true));
    return x;
  }

  Rows attend(const std::string& name, const Rows& q, const Rows& k, const Rows& v,
              bool causal) const {
    const size_t heads = shape_.heads, head = shape_.width / heads;
    Rows out(q.size(), Row(shape_.width));
    for (size_t i = 0; i < q.size(); ++i) {
      const size_t visible = causal ? i + 1 : k.size();
      for (size_t h = 0; h < heads; ++h) {
        Row p(visible);
        double sum = 0;
        for (size_t j = 0; j < visible; ++j) {
          for (size_t c = h * head; c < (h + 1) * head; ++c) p[j] += q[i][c] * k[j][c];
          sum += p[j] = weight(name, h, p[j] / std::sqrt(double(head)));
        }
        for (size_t j = 0; j < visible; ++j) {
          for (size_t c = h * head; c < (h + 1) * head; ++c) out[i][c] += p[j] / sum * v[j][c];
        }
      }
    }
    return linear(name + ".out", out, true);
  }

  double weight(const std::string& name, size_t head, double score) const {
    if (shape_.attention == AttentionKind::kSoftmax) return std::exp(score);
    const double base = std::max(score + at(name + ".b")[head], 0.0);
    return std::pow(base, shape_.degree) + std::abs(at(name + ".delta")[head]);
  }

  Rows norm(const std::string& name, const Rows& x) const {
    Rows y = x;
    const std::vector<float>&g = at(name + ".g"), &b = at(name + ".b");
    const double n = shape_.width, c = std::sqrt(std::acos(-1.0) / 2);
    for (Row& row : y) {
      double mean = 0, l1 = 0, l2 = 0;
      for (const double v : row) mean += v / n;
      for (const double v : row) l1 += std::abs(v - mean) / n, l2 += (v - mean) * (v - mean) / n;
      const double size = shape_.norm == NormKind::kL1 ? c * l1 + 1e-6 : std::sqrt(l2 + 1e-5);
      for (size_t i = 0; i < row.size(); ++i) row[i] = g[i] * (row[i] - mean) / size + b[i];
    }
    return y;
  }

  Rows linear(const std::string& name, const Rows& x, bool bias) const {
    const FloatTensor& w = weights_.find(name + ".weight")->second;
    const size_t outputs = w.shape[0], inputs = w.shape[1];
    Rows y(x.size(), Row(outputs));
    for (size_t i = 0; i < x.size(); ++i) {
      for (size_t j = 0; j < outputs; ++j) {
        if (bias) y[i][j] = at(name + ".bias")[j];
        for (size_t k = 0; k < inputs; ++k) y[i][j] += x[i][k] * w.values[j * inputs + k];
      }
    }
    return y;
  }

  Rows embed(const Tokens& tokens) const {
    const size_t width = shape_.width, half = width / 2;
    Rows x(tokens.size(), Row(width));
    for (size_t p = 0; p < tokens.size(); ++p) {
      for (size_t c = 0; c < width; ++c) {
        const double angle = double(p) * std::pow(10000.0, -double(c % half) / double(half));
        const double token = at("embedding.weight")[size_t(tokens[p]) * width + c];
        x[p][c] = token * std::sqrt(double(width)) + (c < half ? std::sin(angle) : std::cos(angle));
      }
    }
    return x;
  }

  Rows columns(const Rows& x, size_t part) const {  // one of the matrices that are side by side
    Rows y;
    const size_t d = shape_.width;
    for (const Row& row : x) y.emplace_back(row.data() + part * d, row.data() + (part + 1) * d);
    return y;
  }

  static void add(Rows& x, const Rows& y) {
    for (size_t i = 0; i < x.size(); ++i) {
      for (size_t c = 0; c < x[i].size(); ++c) x[i][c] += y[i][c];
    }
  }

  const std::vector<float>& at(const std::string& name) const {
    return weights_.find(name)->second.values;
  }

  NetworkShape shape_;
  const FloatWeights& weights_;
};

enum Kind { kOurs, kVanilla };

// 1040 hidden units are more than the product takes in one pass.
NetworkShape make_shape(uint32_t encoder, uint32_t decoder, uint32_t degree, Kind kind,
                        uint32_t width = 48, uint32_t heads = 3, uint32_t ffn = 112) {
  const auto attention = kind == kOurs ? AttentionKind::kPolynomial : AttentionKind::kSoftmax;
  const auto norm = kind == kOurs ? NormKind::kL1 : NormKind::kL2;
  return {80, width, ffn, heads, encoder, decoder, degree, attention, norm, 128, 2};
}

Tokens make_tokens(size_t count, uint32_t seed) {
  Tokens tokens;
  for (size_t i = 0; i < count; ++i)
    tokens.push_back(int32_t((seed = seed * 1664525u + 1013904223u) >> 16) % 80);
  return tokens;
}

std::vector<Tokens> make_sentences(std::initializer_list<size_t> lengths, uint32_t seed) {
  std::vector<Tokens> sentences;
  for (const size_t length : lengths) sentences.push_back(make_tokens(length, seed++));
  return sentences;
}

std::shared_ptr<const ModelFile> make_file(Flavour flavour, const NetworkShape& shape,
                                           const FloatWeights& weights) {
  Result<AlignedBytes> bytes = make_model(flavour, shape, weights, "{}", "");
  EXPECT_TRUE(bytes.ok()) << bytes.error();
  Result<ModelFile> file = ModelFile::open(std::move(*bytes));
  EXPECT_TRUE(file.ok()) << file.error();
  return std::make_shared<const ModelFile>(std::move(*file));
}

struct Model {
  explicit Model(const NetworkShape& shape)
      : weights(random_weights(shape, 7)), reference(shape, weights) {
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

  std::vector<float> log_probabilities(int row) const {
    std::vector<float> out(engine->shape().vocabulary);
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
  const std::vector<Tokens> sources = make_sentences({5, 1, 70, 12}, 1);
  const std::vector<Tokens> inputs = make_sentences({9, 3, 1, 14}, 5);
  model.reserve({4, 88, 4, 14});
  if (translates) model.encode(sources);
  std::vector<Rows> expected;
  for (size_t s = 0; s < 4; ++s) {
    const Rows memory = translates ? model.reference.encode(sources[s]) : Rows{};
    expected.push_back(model.reference.decode(inputs[s], translates ? &memory : nullptr));
  }
  for (size_t t = 0; t < 14; ++t) {
    std::vector<StepRow> rows;
    for (int s = 3; s >= 0; --s) {  // slots need not be in order, nor equal to sentences
      const Tokens& mine = inputs[size_t(s)];
      if (t < mine.size()) rows.push_back({s, (s + 1) % 4, int(t), mine[t]});
    }
    model.engine->step(rows);
    for (size_t r = 0; r < rows.size(); ++r) {
      const Row& want = expected[size_t(rows[r].sentence)][t];
      const std::span<const float> got = model.engine->logits(int(r));
      for (size_t j = 0; j < want.size(); ++j)
        ASSERT_NEAR(got[j], want[j], 1e-4) << "step " << t << " row " << r;
      double sum = 0;
      for (const double x : want) sum += std::exp(x);
      EXPECT_NEAR(model.log_probabilities(int(r))[7], want[7] - std::log(sum), 1e-4);
      EXPECT_EQ(model.engine->best_token(int(r)),
                std::max_element(got.begin(), got.end()) - got.begin());
    }
  }
}

// Log-probabilities of sentence 0 after `inputs`, in the company of `others` sentences.
std::vector<float> in_company(const NetworkShape& shape, int others) {
  Model model(shape);
  const Tokens inputs = make_tokens(6, 40);
  std::vector<Tokens> sources;
  for (int s = 0; s <= others; ++s)
    sources.push_back(make_tokens(size_t(3 + s * 5 % 17), 20 + uint32_t(s)));
  std::swap(sources.front(), sources.back());  // the sentence in question comes last
  model.reserve({others + 1, 20 * (others + 1), others + 1, 6});
  if (shape.encoder_layers > 0) model.encode(sources);
  for (int t = 0; t < 6; ++t) {
    std::vector<StepRow> rows;
    for (int s = 0; s <= others; ++s)
      rows.push_back({s, s, t, inputs[size_t(t)] ^ (s == others ? 0 : 1)});
    model.engine->step(rows);
  }
  return model.log_probabilities(others);
}

TEST_P(FloatTransformerTest, ARowDoesNotDependOnItsBatch) {
  const std::vector<float> alone = in_company(GetParam(), 0);
  for (const int others : {1, 2, 3, 4, 6, 69})
    EXPECT_EQ(in_company(GetParam(), others), alone) << others;
}

TEST_P(FloatTransformerTest, CopiedSlotContinuesTheSameHistory) {
  Model model(GetParam());
  model.reserve({1, 7, 3, 8});
  if (GetParam().encoder_layers > 0) model.encode({make_tokens(7, 9)});
  for (int t = 0; t < 4; ++t)
    model.engine->step(std::vector<StepRow>{{0, 1, t, 10 + t}, {0, 2, t, 60 - t}});
  model.engine->copy_slot(1, 0, 4);
  model.engine->step(std::vector<StepRow>{{0, 0, 4, 33}, {0, 1, 4, 33}, {0, 2, 4, 33}});
  EXPECT_EQ(model.log_probabilities(0), model.log_probabilities(1));
  EXPECT_NE(model.log_probabilities(0), model.log_probabilities(2));
}

TEST_P(FloatTransformerTest, AlignmentSharesOutTheWholeAttention) {
  Model model(GetParam());
  model.reserve({2, 20, 2, 2});
  if (GetParam().encoder_layers == 0) {
    model.engine->step(std::vector<StepRow>{{0, 0, 0, 2}});
    EXPECT_TRUE(model.engine->alignment(0).empty());
    return;
  }
  model.encode({make_tokens(4, 1), make_tokens(11, 2)});
  model.engine->step(std::vector<StepRow>{{1, 0, 0, 2}, {0, 1, 0, 2}});
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
  model.engine->observe([&](std::string_view name, int count, int width, const float* values) {
    rows[std::string(name)] += count;
    EXPECT_EQ(width, 48);
    EXPECT_TRUE(std::isfinite(values[0]));
  });
  model.reserve({1, 100, 1, 1});
  model.encode({make_tokens(100, 3)});
  model.engine->step(std::vector<StepRow>{{0, 0, 0, 2}});
  EXPECT_EQ(rows.size(), 12u);
  for (const char* name : {"encoder.0.self_norm", "encoder.0.ffn_norm", "encoder.0.ffn"})
    EXPECT_EQ(rows[name], 100) << name;
  for (const char* name : {"decoder.0.self_attn", "decoder.0.cross_norm", "decoder_norm"})
    EXPECT_EQ(rows[name], 1) << name;
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
    float y[4] = {x, 0, -x, -1000};
    fp32::exponential(y, y, 4);
    EXPECT_NEAR(y[0] / std::exp(double(x)), 1, 1e-6);
    EXPECT_EQ(y[1], 1);
    EXPECT_NEAR(y[2] / std::exp(-double(x)), 1, 1e-6);
    EXPECT_LT(y[3], 1e-37f);
  }
}

TEST(FloatKernel, TheFirstMaximumWins) {
  std::vector<float> x(64, -3);
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
    EXPECT_EQ((*loaded)->shape().width, shape.width);
    EXPECT_EQ(FloatTransformer::create(file).ok(), flavour == Flavour::kFloat32);
  }
}

}  // namespace
}  // namespace octavo
