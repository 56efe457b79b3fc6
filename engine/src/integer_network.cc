#include "integer_network.h"

#include <string>

#include "network_reader.h"

namespace octavo {
namespace {

struct IntegerLeaves {
  static Linear embedding(NetworkReader& reader, const std::string& name, uint32_t outputs, uint32_t inputs) {
    Linear linear{};
    linear.outputs = outputs;
    linear.inputs = inputs;
    linear.panels = reader.get<uint8_t>(name + ".weight", ElementType::kPanel7, outputs, inputs, &linear.scale);
    linear.column = reader.get<uint16_t>(name + ".column", ElementType::kMultiplier, outputs);
    return linear;
  }

  static Linear linear(NetworkReader& reader, const std::string& name, uint32_t outputs, uint32_t inputs) {
    Linear linear = embedding(reader, name, outputs, inputs);
    linear.bias = reader.get<int16_t>(name + ".bias", ElementType::kInt16, outputs, 1, &linear.bias_scale);
    return linear;
  }

  static Norm norm(NetworkReader& reader, const std::string& name, uint32_t width) {
    Norm norm{};
    norm.gain = reader.get<int16_t>(name + ".g", ElementType::kInt16, width, 1, &norm.gain_scale);
    norm.bias = reader.get<int16_t>(name + ".b", ElementType::kInt16, width, 1, &norm.bias_scale);
    return norm;
  }
};

}  // namespace

Result<IntegerNetwork> IntegerNetwork::view(const ModelFile& file) {
  if (file.flavour() != Flavour::kInt8)
    return problem({"this is an FP32 model; the integer network needs an INT8 one"});
  if (file.shape().attention != AttentionKind::kPolynomial || file.shape().norm != NormKind::kL1) {
    return problem({"softmax and L2 norm exist in FP32 only: an INT8 model has polynomial attention and L1 norm"});
  }
  return read_network<IntegerNetwork, IntegerLeaves>(file);
}

}  // namespace octavo
