// Finds the tensors of a network in a model file, in the order of the forward pass. The INT8 and the FP32 network have
// the same structure and differ only in what a linear map and a norm are made of: their `Leaves` say that.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "message.h"
#include "model_file.h"
#include "octavo/status.h"

namespace octavo {

// Looks tensors up and remembers the first problem; after one,
// the pointers it gave are worthless and status() says why.
class NetworkReader {
 public:
  explicit NetworkReader(const ModelFile& file) : file_(file) {}

  template <class T>
  const T* get(const std::string& name, ElementType type, uint32_t rows, uint32_t cols = 1, float* scale = nullptr) {
    static_assert(sizeof(T) <= 8);
    return static_cast<const T*>(find(name, type, rows, cols, scale));
  }
  const Status& status() const { return status_; }

 private:
  const void* find(const std::string& name, ElementType type, uint32_t rows, uint32_t cols, float* scale) {
    const TensorEntry* entry = file_.find(name);
    if (entry != nullptr && entry->type == type && entry->rows == rows && entry->cols == cols) {
      if (scale != nullptr) *scale = entry->scale;
      return file_.data(*entry);
    }
    if (!status_) {
      status_ = entry == nullptr ? problem({"the model file lacks the tensor ", name})
                                 : problem({"the model file's tensor ", name, " has another type or shape than (",
                                            std::to_string(rows), ", ", std::to_string(cols), ")"});
    }
    return nullptr;
  }

  const ModelFile& file_;
  Status status_;
};

template <class Leaves, class Attention>
void read_attention(NetworkReader& reader, const std::string& name, const NetworkShape& shape, Attention& to) {
  to.q = Leaves::linear(reader, name + ".q", shape.width, shape.width);
  to.k = Leaves::linear(reader, name + ".k", shape.width, shape.width);
  to.v = Leaves::linear(reader, name + ".v", shape.width, shape.width);
  to.out = Leaves::linear(reader, name + ".out", shape.width, shape.width);
  to.b = reader.get<float>(name + ".b", ElementType::kFloat32, shape.heads);
  to.delta = reader.get<float>(name + ".delta", ElementType::kFloat32, shape.heads);
}

// What encoder and decoder layers share: self-attention and feed-forward with their norms.
template <class Leaves, class Layer>
void read_layer(NetworkReader& reader, const std::string& name, const NetworkShape& shape, Layer& to) {
  to.self_norm = Leaves::norm(reader, name + ".self_norm", shape.width);
  read_attention<Leaves>(reader, name + ".self_attn", shape, to.self_attn);
  to.ffn_norm = Leaves::norm(reader, name + ".ffn_norm", shape.width);
  to.w1 = Leaves::linear(reader, name + ".ffn.w1", shape.ffn, shape.width);
  to.w2 = Leaves::linear(reader, name + ".ffn.w2", shape.width, shape.ffn);
}

template <class Network, class Leaves>
Result<Network> read_network(const ModelFile& file) {
  NetworkReader reader(file);
  Network network{};
  const NetworkShape& shape = network.shape = file.shape();
  network.embedding = Leaves::embedding(reader, "embedding", shape.vocabulary, shape.width);
  network.rotation = reader.get<double>("positions.rotation", ElementType::kFloat64, shape.width / 2, 2);
  network.encoder.resize(shape.encoder_layers);
  for (uint32_t i = 0; i < shape.encoder_layers; ++i) {
    read_layer<Leaves>(reader, "encoder." + std::to_string(i), shape, network.encoder[i]);
  }
  const bool cross = shape.encoder_layers > 0;
  if (cross) network.encoder_norm = Leaves::norm(reader, "encoder_norm", shape.width);
  network.decoder.resize(shape.decoder_layers);
  for (uint32_t i = 0; i < shape.decoder_layers; ++i) {
    const std::string name = "decoder." + std::to_string(i);
    read_layer<Leaves>(reader, name, shape, network.decoder[i]);
    if (!cross) continue;
    network.decoder[i].cross_norm = Leaves::norm(reader, name + ".cross_norm", shape.width);
    read_attention<Leaves>(reader, name + ".cross_attn", shape, network.decoder[i].cross_attn);
  }
  network.decoder_norm = Leaves::norm(reader, "decoder_norm", shape.width);
  if (reader.status()) return *reader.status();
  return network;
}

}  // namespace octavo
