// octavo quantize: FP32 safetensors to a model file.
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "command.h"
#include "commands.h"
#include "float_network.h"
#include "integer_network.h"
#include "io.h"
#include "json.h"
#include "message.h"
#include "quantizer.h"
#include "safetensors.h"
#include "text/vocabulary.h"

namespace octavo {
namespace {

struct QuantizeOptions {
  std::string weights, output, config, vocabulary, card;
  bool fp32 = false;
};

Result<json> read_json(const std::string& path) {
  Result<std::string> text = read_text(path);
  if (!text) return Error{text.error()};
  json value = parse_json(*text);
  if (!value.is_object()) return problem({path, " is not a JSON object"});
  return value;
}

// The network's shape as the training code describes it (`Shape`
// in models/train/model.py), with the engine's own additions.
Result<NetworkShape> shape_of(const json& config, const std::string& path) {
  NetworkShape shape{};
  shape.max_length = 256;
  shape.eos = 1;
  const struct {
    const char* name;
    uint32_t* value;
    bool required;
  } numbers[] = {
      {"vocabulary", &shape.vocabulary, true},
      {"width", &shape.width, true},
      {"ffn", &shape.ffn, true},
      {"heads", &shape.heads, true},
      {"encoder_layers", &shape.encoder_layers, true},
      {"decoder_layers", &shape.decoder_layers, true},
      {"degree", &shape.degree, true},
      {"max_length", &shape.max_length, false},
      {"eos", &shape.eos, false},
  };
  for (const auto& number : numbers) {
    const auto found = config.find(number.name);
    if (found == config.end() && !number.required) continue;
    if (found == config.end() || !found->is_number_unsigned() || found->get<uint64_t>() > UINT32_MAX) {
      return problem({path, ": \"", number.name, "\" is missing or not a whole number"});
    }
    *number.value = found->get<uint32_t>();
  }
  const json attention = config.value("attention", json("polynomial")), norm = config.value("norm", json("l1"));
  if (attention != "polynomial" && attention != "softmax")
    return problem({path, ": \"attention\" is polynomial or softmax"});
  if (norm != "l1" && norm != "l2") return problem({path, ": \"norm\" is l1 or l2"});
  shape.attention = attention == "softmax" ? AttentionKind::kSoftmax : AttentionKind::kPolynomial;
  shape.norm = norm == "l2" ? NormKind::kL2 : NormKind::kL1;
  return shape;
}

std::string text_of(const json& config, const char* name) {
  const auto found = config.find(name);
  return found != config.end() && found->is_string() ? found->get<std::string>() : "";
}

json describe(const json& config, const NetworkShape& shape, bool fp32, int pieces, const json& card) {
  return {{"format", kFormatVersion},
          {"name", text_of(config, "name")},
          {"source", text_of(config, "source")},
          {"target", text_of(config, "target")},
          {"flavour", fp32 ? "fp32" : "int8"},
          {"shape",
           {{"vocabulary", shape.vocabulary},
            {"width", shape.width},
            {"ffn", shape.ffn},
            {"heads", shape.heads},
            {"encoder_layers", shape.encoder_layers},
            {"decoder_layers", shape.decoder_layers},
            {"attention", shape.attention == AttentionKind::kSoftmax ? "softmax" : "polynomial"},
            {"norm", shape.norm == NormKind::kL2 ? "l2" : "l1"},
            {"max_length", shape.max_length},
            {"eos", shape.eos}}},
          {"degree", shape.degree},
          {"bits", fp32 ? 32 : 8},
          {"weight_bits", fp32 ? 32 : 7},
          {"vocabulary", {{"kind", "sentencepiece"}, {"pieces", pieces}}},
          {"card", card}};
}

// A sentencepiece model, or the one inside a model file.
Result<std::string> read_vocabulary(const std::string& path) {
  Result<std::string> text = read_text(path);
  if (!text || !text->starts_with(std::string_view(kMagic.data(), kMagic.size()))) return text;
  const Result<ModelFile> model = load_model(path);
  if (!model) return Error{model.error()};
  return std::string(model->vocabulary());
}

// The vocabulary must belong to the network: every piece has an embedding.
Result<int> count_pieces(const std::string& model, const NetworkShape& shape, const std::string& path) {
  std::string why;
  const std::optional<Vocabulary> vocabulary = Vocabulary::load(model, why);
  if (!vocabulary) return problem({path, ": ", why});
  const int pieces = vocabulary->size(), end = vocabulary->end_of_sentence();
  if (static_cast<uint32_t>(pieces) > shape.vocabulary || shape.eos >= static_cast<uint32_t>(pieces)) {
    return problem({path, " has ", std::to_string(pieces), " pieces, but the network ",
                    std::to_string(shape.vocabulary), " and the end mark ", std::to_string(shape.eos),
                    ": it is not this network's vocabulary"});
  }
  if (end >= 0 && static_cast<uint32_t>(end) != shape.eos) {
    return problem(
        {path, " ends sentences with piece ", std::to_string(end), ", the network with ", std::to_string(shape.eos)});
  }
  return pieces;
}

Status quantize(const QuantizeOptions& options) {
  const Result<json> config = read_json(options.config);
  if (!config) return Error{config.error()};
  const Result<json> card = options.card.empty() ? Result<json>(json::object()) : read_json(options.card);
  if (!card) return Error{card.error()};
  const Result<NetworkShape> shape = shape_of(*config, options.config);
  if (!shape) return Error{shape.error()};
  if (Status bad = check_shape(*shape)) return problem({options.config, ": ", bad->message});
  const Result<std::string> vocabulary = read_vocabulary(options.vocabulary);
  if (!vocabulary) return Error{vocabulary.error()};
  const Result<int> pieces = count_pieces(*vocabulary, *shape, options.vocabulary);
  if (!pieces) return Error{pieces.error()};
  const Result<FloatWeights> weights = read_safetensors(options.weights);
  if (!weights) return Error{weights.error()};

  const std::string description =
      describe(*config, *shape, options.fp32, *pieces, *card).dump(-1, ' ', false, json::error_handler_t::replace);
  const Flavour flavour = options.fp32 ? Flavour::kFloat32 : Flavour::kInt8;
  Result<AlignedBytes> bytes = make_model(flavour, *shape, *weights, description, *vocabulary);
  if (!bytes) return problem({options.weights, ": ", bytes.error()});
  // Nothing leaves this tool that the engine would refuse.
  const Result<ModelFile> model = ModelFile::open(std::move(*bytes));
  if (!model) return Error{model.error()};
  if (options.fp32) {
    if (const auto network = FloatNetwork::view(*model); !network) return Error{network.error()};
  } else {
    if (const auto network = IntegerNetwork::view(*model); !network) return Error{network.error()};
  }
  if (Status bad = write_file(options.output, model->contents())) return bad;
  const auto fp32 = static_cast<double>(float_bytes(*shape) + vocabulary->size()),
             size = static_cast<double>(model->bytes());
  std::printf("%s: %.2f MB", options.output.c_str(), size / 1e6);
  if (!options.fp32) std::printf(", FP32 would be %.2f MB, %.2f times as much", fp32 / 1e6, fp32 / size);
  std::printf("\n");
  return std::nullopt;
}

}  // namespace

void add_quantize(CommandLine& line) {
  Command command(line, "quantize", "Make a model file from FP32 weights");
  const auto options = std::make_shared<QuantizeOptions>();
  command.option("weights", options->weights, "FP32, FP16 or BF16 weights (safetensors)").required();
  command.option("-o,--output", options->output, "Model file to write").required();
  command.option("--config", options->config, "Network shape and languages (JSON)").required();
  command.option("--vocabulary", options->vocabulary, "sentencepiece model, or a model file to take it from")
      .required();
  command.option("--card", options->card, "Training card to put into the file (JSON)");
  command.flag("--fp32", options->fp32, "Write the FP32 flavour, for comparison");
  command.runs([options] { return quantize(*options); });
}

}  // namespace octavo
