// octavo inspect: what is in a model file.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "command.h"
#include "commands.h"
#include "io.h"
#include "json.h"
#include "quantizer.h"

namespace octavo {
namespace {

const char* type_name(ElementType type) {
  switch (type) {
    case ElementType::kPanel7:
      return "panel7";
    case ElementType::kMultiplier:
      return "multiplier";
    case ElementType::kInt16:
      return "int16";
    case ElementType::kFloat32:
      return "float32";
    case ElementType::kPanelFloat:
      return "panel-float";
    case ElementType::kFloat64:
      return "float64";
  }
  return "unknown";
}

struct Totals {
  uint64_t parameters, tensor_bytes, fp32_bytes;  // fp32_bytes includes the vocabulary
  double ratio;
};

Totals totals_of(const ModelFile& model) {
  Totals totals{float_bytes(model.shape()) / sizeof(float), 0, float_bytes(model.shape()) + model.vocabulary().size(),
                0};
  for (const TensorEntry& entry : model.tensors()) totals.tensor_bytes += entry.bytes;
  totals.ratio = static_cast<double>(totals.fp32_bytes) / static_cast<double>(model.bytes());
  return totals;
}

// In the order of the file, which is that of the forward pass.
std::vector<TensorEntry> by_offset(const ModelFile& model) {
  std::vector<TensorEntry> tensors(model.tensors().begin(), model.tensors().end());
  std::sort(tensors.begin(), tensors.end(),
            [](const TensorEntry& a, const TensorEntry& b) { return a.offset < b.offset; });
  return tensors;
}

std::map<std::string, uint64_t> bytes_by_type(const ModelFile& model) {
  std::map<std::string, uint64_t> sums;
  for (const TensorEntry& entry : model.tensors()) sums[type_name(entry.type)] += entry.bytes;
  return sums;
}

json shape_json(const NetworkShape& s) {
  return {{"vocabulary", s.vocabulary},
          {"width", s.width},
          {"ffn", s.ffn},
          {"heads", s.heads},
          {"encoder_layers", s.encoder_layers},
          {"decoder_layers", s.decoder_layers},
          {"degree", s.degree},
          {"attention", s.attention == AttentionKind::kSoftmax ? "softmax" : "polynomial"},
          {"norm", s.norm == NormKind::kL2 ? "l2" : "l1"},
          {"max_length", s.max_length},
          {"eos", s.eos}};
}

// The file's own words; the engine never parses them, so they may be anything.
json description_json(const ModelFile& model) {
  json parsed = parse_json(model.description());
  return parsed.is_discarded() ? json(std::string(model.description())) : parsed;
}

void print_json(const ModelFile& model) {
  const Totals totals = totals_of(model);
  json out = {{"version", kFormatVersion},
              {"flavour", model.flavour() == Flavour::kInt8 ? "int8" : "fp32"},
              {"bytes", model.bytes()},
              {"shape", shape_json(model.shape())},
              {"description", description_json(model)},
              {"vocabulary_bytes", model.vocabulary().size()},
              {"parameters", totals.parameters},
              {"tensor_bytes", totals.tensor_bytes},
              {"fp32_bytes", totals.fp32_bytes},
              {"ratio", totals.ratio},
              {"bytes_by_type", bytes_by_type(model)},
              {"tensors", json::array()}};
  for (const TensorEntry& entry : by_offset(model)) {
    out["tensors"].push_back({{"name", name_of(entry)},
                              {"type", type_name(entry.type)},
                              {"shape", {entry.rows, entry.cols}},
                              {"scale", entry.scale},
                              {"offset", entry.offset},
                              {"bytes", entry.bytes}});
  }
  std::printf("%s\n", out.dump(2, ' ', false, json::error_handler_t::replace).c_str());
}

void print_text(const ModelFile& model) {
  const Totals totals = totals_of(model);
  std::printf("Octavo model, format %u, %s, %zu bytes\n", kFormatVersion,
              model.flavour() == Flavour::kInt8 ? "INT8" : "FP32", model.bytes());
  std::printf("shape        %s\n", shape_json(model.shape()).dump().c_str());
  std::printf("description  %s\n\n",
              description_json(model).dump(-1, ' ', false, json::error_handler_t::replace).c_str());
  std::printf("%-36s %-12s %15s %12s %12s\n", "tensor", "type", "shape", "scale", "bytes");
  for (const TensorEntry& entry : by_offset(model)) {
    const std::string shape = std::to_string(entry.rows) + " x " + std::to_string(entry.cols);
    std::printf("%-36s %-12s %15s %12.6g %12llu\n", entry.name.data(), type_name(entry.type), shape.c_str(),
                static_cast<double>(entry.scale), static_cast<unsigned long long>(entry.bytes));
  }
  std::printf("\n");
  for (const auto& [type, bytes] : bytes_by_type(model)) {
    std::printf("%-16s %12llu bytes\n", type.c_str(), static_cast<unsigned long long>(bytes));
  }
  std::printf("%-16s %12zu bytes\n", "vocabulary", model.vocabulary().size());
  std::printf("%-16s %12llu\n", "parameters", static_cast<unsigned long long>(totals.parameters));
  std::printf("%-16s %12llu bytes (weights and vocabulary)\n", "as FP32",
              static_cast<unsigned long long>(totals.fp32_bytes));
  std::printf("%-16s %12zu bytes, ratio %.3f\n", "this file", model.bytes(), totals.ratio);
}

}  // namespace

void add_inspect(CommandLine& line) {
  struct Options {
    std::string file;
    bool as_json = false;
  };
  Command command(line, "inspect", "Print what is in a model file");
  const auto options = std::make_shared<Options>();
  command.option("file", options->file, "Model file").required();
  command.flag("--json", options->as_json, "As JSON");
  command.runs([options]() -> Status {
    const Result<ModelFile> model = load_model(options->file);
    if (!model) return Error{model.error()};
    options->as_json ? print_json(*model) : print_text(*model);
    return std::nullopt;
  });
}

}  // namespace octavo
