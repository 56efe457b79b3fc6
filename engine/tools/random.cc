// octavo random: writes a model with random weights.
#include "random.h"

#include <algorithm>
#include <memory>
#include <string>

#include "command.h"
#include "commands.h"
#include "io.h"
#include "message.h"
#include "quantizer.h"

namespace octavo {
namespace {

constexpr uint32_t kPadding = 0, kUnknown = 2;  // in our vocabularies

struct Arguments {
  std::string output, shape = "shipped", flavour = "int8", vocabulary_of;
};

Status run(const Arguments& args) {
  const bool vanilla = args.flavour == "vanilla";
  Result<ModelFile> donor = load_model(args.vocabulary_of);
  if (!donor) return Error{donor.error()};
  const NetworkShape shape = benchmark_shape(args.shape);
  const Flavour flavour = args.flavour == "int8" ? Flavour::kInt8 : Flavour::kFloat32;
  Result<AlignedBytes> bytes = random_model(shape, flavour, vanilla, donor->vocabulary());
  if (!bytes) return Error{bytes.error()};
  return write_file(args.output, {bytes->data(), bytes->size()});
}

}  // namespace

NetworkShape benchmark_shape(std::string_view name) {
  const auto make = [](uint32_t width, uint32_t heads, uint32_t encoder, uint32_t decoder) {
    return NetworkShape{.vocabulary = 8000,
                        .width = width,
                        .ffn = 4 * width,
                        .heads = heads,
                        .encoder_layers = encoder,
                        .decoder_layers = decoder,
                        .degree = 3,
                        .attention = AttentionKind::kPolynomial,
                        .norm = NormKind::kL1,
                        .max_length = 512,
                        .eos = 1};
  };
  if (name == "base") return make(512, 8, 6, 6);
  if (name == "big") return make(1024, 16, 6, 6);
  return make(256, 8, 6, 3);
}

Result<AlignedBytes> random_model(NetworkShape shape, Flavour flavour, bool vanilla, std::string_view vocabulary) {
  if (vanilla) {
    shape.attention = AttentionKind::kSoftmax;
    shape.norm = NormKind::kL2;
  }
  FloatWeights weights = random_weights(shape, 1);
  // A row of zeros has the logit 0, which is never the largest of thousands of random ones.
  const auto silence = [&](int64_t token) {
    std::fill_n(weights.at("embedding.weight").values.begin() + token * shape.width, shape.width, 0.0f);
  };
  for (const uint32_t token : {kPadding, shape.eos, kUnknown}) silence(token);
  return make_model(flavour, shape, weights, R"({"source":"en","target":"de"})", vocabulary);
}

void add_random(CommandLine& line) {
  auto args = std::make_shared<Arguments>();
  Command command(line, "random", "Write a model of some shape with random weights, to measure speed");
  command.option("output", args->output, "the model file to write").required();
  command.option("--shape", args->shape, "shipped, base or big").one_of({"shipped", "base", "big"});
  command.option("--flavour", args->flavour, "int8, float (the FP32 twin) or vanilla (softmax, L2 norm, FP32)")
      .one_of({"int8", "float", "vanilla"});
  command.option("--vocabulary-of", args->vocabulary_of, "a model whose vocabulary to use").required();
  command.runs([args] { return run(*args); });
}

}  // namespace octavo
