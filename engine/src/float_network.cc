#include "float_network.h"

#include <string>

#include "network_reader.h"

namespace octavo {
namespace {

struct FloatLeaves {
  static FloatLinear embedding(NetworkReader& reader, const std::string& name, uint32_t outputs, uint32_t inputs) {
    return {outputs, inputs, reader.get<float>(name + ".weight", ElementType::kPanelFloat, outputs, inputs), nullptr};
  }

  static FloatLinear linear(NetworkReader& reader, const std::string& name, uint32_t outputs, uint32_t inputs) {
    FloatLinear linear = embedding(reader, name, outputs, inputs);
    linear.bias = reader.get<float>(name + ".bias", ElementType::kFloat32, outputs);
    return linear;
  }

  static FloatNorm norm(NetworkReader& reader, const std::string& name, uint32_t width) {
    return {reader.get<float>(name + ".g", ElementType::kFloat32, width),
            reader.get<float>(name + ".b", ElementType::kFloat32, width)};
  }
};

}  // namespace

Result<FloatNetwork> FloatNetwork::view(const ModelFile& file) {
  if (file.flavour() != Flavour::kFloat32)
    return problem({"this is an INT8 model; the FP32 network needs an FP32 one"});
  return read_network<FloatNetwork, FloatLeaves>(file);
}

}  // namespace octavo
