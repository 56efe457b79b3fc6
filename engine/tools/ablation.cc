#include "ablation.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "float_transformer.h"
#include "load_transformer.h"
#include "measurer.h"
#include "message.h"
#include "reference_transformer.h"
#include "text/vocabulary.h"

namespace octavo {
namespace {

struct Difference {
  double error = 0, signal = 0;  // sums of squares
  int64_t count = 0;
};

template <class T>
double share_of_equals(const std::vector<T>& a, const std::vector<T>& b) {
  size_t same = 0;
  for (size_t i = 0; i < a.size(); ++i) same += a[i] == b[i];
  return 100.0 * static_cast<double>(same) / static_cast<double>(std::max<size_t>(a.size(), 1));
}

class Ablation {
 public:
  Ablation(const AblationInput& input, Vocabulary vocabulary, std::FILE* out)
      : input_(input),
        measurer_(std::move(vocabulary), input.int8->shape(), input.sources, input.references),
        out_(out) {}

  Status run();

 private:
  Status measure(const std::string& name, const Result<std::unique_ptr<Transformer>>& network,
                 Measurement& result) const;
  Status variant(const std::string& name, const std::shared_ptr<const ModelFile>& file,
                 const ReferenceOptions& options) const;
  void overview() const;
  void heading(const char* title, const char* column) const;
  void row(const std::string& name, const Measurement& result) const;
  Status precision_loss() const;

  const AblationInput& input_;
  Measurer measurer_;
  std::FILE* out_;
  Measurement fp32_, int8_;
};

Status Ablation::measure(const std::string& name, const Result<std::unique_ptr<Transformer>>& network,
                         Measurement& result) const {
  if (!network) return Error{network.error()};
  const auto start = std::chrono::steady_clock::now();
  Result<Measurement> measured = measurer_.measure(**network);
  if (!measured) return Error{measured.error()};
  result = std::move(*measured);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::fprintf(stderr, "%s: %.1f s\n", name.c_str(), seconds.count());
  return std::nullopt;
}

void Ablation::heading(const char* title, const char* column) const {
  std::fprintf(out_, "\n## %s\n\n", title);
  std::fprintf(out_, "| %s | BLEU | ΔBLEU | same translation | cross-entropy | same arg max |\n", column);
  std::fprintf(out_, "|---|---:|---:|---:|---:|---:|\n");
}

void Ablation::row(const std::string& name, const Measurement& result) const {
  std::fprintf(out_, "| %s | %.2f | %+.2f | %.1f %% | %.4f | %.2f %% |\n", name.c_str(), result.bleu,
               result.bleu - fp32_.bleu, share_of_equals(result.translations, fp32_.translations), result.cross_entropy,
               share_of_equals(result.best, fp32_.best));
  std::fflush(out_);
}

Status Ablation::variant(const std::string& name, const std::shared_ptr<const ModelFile>& file,
                         const ReferenceOptions& options) const {
  auto network = ReferenceTransformer::create(file, options);
  if (!network) return Error{network.error()};
  Measurement result;
  if (Status status = measure(name, std::unique_ptr<Transformer>(std::move(*network)), result)) {
    return status;
  }
  row(name, result);
  return std::nullopt;
}

void Ablation::overview() const {
  const NetworkShape& shape = input_.int8->shape();
  std::fprintf(out_, "# Ablation\n\n%zu sentences, greedy search. Width %u, FFN %u, %u heads, ", input_.sources.size(),
               shape.width, shape.ffn, shape.heads);
  std::fprintf(out_, "%u + %u layers, vocabulary %u, polynomial attention of degree n = %u.\n", shape.encoder_layers,
               shape.decoder_layers, shape.vocabulary, shape.degree);
  std::fprintf(out_,
               "ΔBLEU, same translation and same arg max compare with FP32; cross-entropy (nats per "
               "piece) and arg max are taken with the reference as history, on the %zu sentences that "
               "fit the model.\n",
               measurer_.forced_sentences());
}

// Mean squared error of what the shipped model computes, for the norms and the residual stream of
// each decoder layer, and its share of the mean square of the FP32 values.
Status Ablation::precision_loss() const {
  const auto real = FloatTransformer::create(input_.fp32);
  if (!real) return Error{real.error()};
  const auto integer = ReferenceTransformer::create(input_.int8, {});
  if (!integer) return Error{integer.error()};
  std::map<std::string, std::vector<float>, std::less<>> seen;  // by the twin, in this step
  std::map<std::string, Difference, std::less<>> differences;
  (*real)->record([&](std::string_view name, int rows, int width, const float* values) {
    if (!name.starts_with("decoder")) return;
    std::vector<float>& all = seen[std::string(name)];
    all.insert(all.end(), values, values + int64_t{rows} * width);
  });
  (*integer)->record([&](std::string_view name, int, int, const float* values) {
    if (!name.starts_with("decoder")) return;
    std::vector<float>& want = seen.find(name)->second;
    Difference& difference = differences[std::string(name)];
    for (size_t k = 0; k < want.size(); ++k) {
      const double error = double{values[k]} - double{want[k]};
      difference.error += error * error;
      difference.signal += double{want[k]} * double{want[k]};
    }
    difference.count += static_cast<int64_t>(want.size());
    want.clear();
  });
  if (Status status = measurer_.force({{real->get(), integer->get()}}, [](int, int32_t) {})) return status;

  std::fprintf(out_, "\n## Precision loss: mean squared error against FP32, references as history\n\n");
  std::fprintf(out_, "In brackets, its share of the mean square.\n\n| decoder layer |");
  const char* const columns[] = {"self_norm", "cross_norm", "ffn_norm", "self_attn", "cross_attn", "ffn"};
  std::fprintf(out_, " LN self | LN cross | LN FFN | Res self | Res cross | Res FFN |\n|---|");
  for (size_t c = 0; c < std::size(columns); ++c) std::fprintf(out_, "---:|");
  const auto cell = [&](const std::string& name) {
    const Difference& d = differences[name];
    std::fprintf(out_, " %.3g (%.3f %%) |", d.error / static_cast<double>(d.count), 100 * d.error / d.signal);
  };
  for (uint32_t n = 0; n < input_.int8->shape().decoder_layers; ++n) {
    std::fprintf(out_, "\n| %u |", n + 1);
    for (const char* column : columns) cell(concat({"decoder.", std::to_string(n), ".", column}));
  }
  std::fprintf(out_, "\n| Out |");
  cell("decoder_norm");
  std::fprintf(out_, " | | | | |\n");
  return std::nullopt;
}

Status Ablation::run() {
  overview();
  if (Status status = measure("FP32", load_transformer(input_.fp32), fp32_)) return status;
  if (Status status = measure("INT8", load_transformer(input_.int8), int8_)) return status;
  heading("FP32 and INT8", "");
  row("FP32", fp32_);
  row("INT8", int8_);
  const auto megabytes = [](const auto& file) { return static_cast<double>(file->bytes()) / 1e6; };
  std::fprintf(out_, "\nStorage: FP32 %.2f MB, INT8 %.2f MB, %.2f times less.\n", megabytes(input_.fp32),
               megabytes(input_.int8), megabytes(input_.fp32) / megabytes(input_.int8));

  heading("Bits of activations and weights", "bits");
  for (int bits = 6; bits <= 10; ++bits) {
    const ReferenceOptions options = {.arithmetic = {.bits = bits}, .weight_bits = bits};
    if (Status status = variant(std::to_string(bits), input_.fp32, options)) return status;
    if (bits == 8) row("8, weights 7 (shipped)", int8_);
  }

  heading("Scale per sentence or per token", "scale");
  const ReferenceOptions per_sentence = {.arithmetic = {.granularity = Granularity::kSentence}};
  if (Status status = variant("B", input_.int8, per_sentence)) return status;
  row("B × T", int8_);

  heading("Arithmetic", "formulas");
  const ScalePropagation paper = {.mode = Arithmetic::kPaper};
  for (const bool matrix_scales : {true, false}) {
    const char* name = matrix_scales ? "paper, a weight scale per matrix" : "paper, a weight scale per output";
    const ReferenceOptions options = {.arithmetic = paper, .weight_bits = 8, .matrix_scales = matrix_scales};
    if (Status status = variant(name, input_.fp32, options)) return status;
  }
  row("fixed-point, a weight scale per output", int8_);
  std::fprintf(out_,
               "\nThe paper matches scales by x / ⌈s/s̄⌉: a ratio just above 1 halves what has the larger scale.\n");

  const std::pair<const char*, Module> modules[] = {{"Emb", kEmbedding}, {"Attn", kAttention}, {"FFN", kFeedForward},
                                                    {"LN", kLayerNorm},  {"Res", kResidual},   {"Proj", kProjection}};
  heading("The paper's formulas in one module, FP32 in the others", "module");
  for (const auto& [name, module] : modules) {
    const ReferenceOptions options = {.arithmetic = paper, .weight_bits = 8, .modules = module, .matrix_scales = true};
    if (Status status = variant(concat({"paper, ", name}), input_.fp32, options)) return status;
  }

  heading("INT8 in one module, FP32 in the others", "module");
  for (const auto& [name, module] : modules) {
    if (Status status = variant(name, input_.fp32, {.modules = module})) return status;
  }
  row("all", int8_);
  return precision_loss();
}

}  // namespace

Status print_ablation(const AblationInput& input, std::FILE* out) {
  if (input.int8->flavour() != Flavour::kInt8 || input.fp32->flavour() != Flavour::kFloat32) {
    return problem({"the ablation needs the INT8 model and, with --fp32, the same model in FP32"});
  }
  const NetworkShape &a = input.int8->shape(), &b = input.fp32->shape();
  if (std::memcmp(&a, &b, sizeof(a)) != 0) return problem({"the INT8 and the FP32 model differ in shape"});
  if (a.encoder_layers == 0) {
    return problem({"the ablation translates, but this is a language model: see octavo score"});
  }
  std::string why;
  std::optional<Vocabulary> vocabulary = Vocabulary::load(input.int8->vocabulary(), why);
  if (!vocabulary) return problem({"the model's vocabulary is damaged: ", why});
  if (vocabulary->size() > static_cast<int>(a.vocabulary)) {
    return problem({"the model's vocabulary has more pieces than its embedding has rows"});
  }
  return Ablation(input, std::move(*vocabulary), out).run();
}

}  // namespace octavo
