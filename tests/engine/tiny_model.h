// The tiny checked-in models (made by models/train/tiny.py), as files in memory.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>

#include "model_file.h"
#include "quantizer.h"
#include "safetensors.h"

namespace octavo {

inline std::string test_data(const std::string& name) { return std::string(OCTAVO_TEST_DATA) + "/" + name; }

inline std::string read_test_data(const std::string& name) {
  std::ifstream in(test_data(name), std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline nlohmann::json read_json(const std::string& name) { return nlohmann::json::parse(read_test_data(name)); }

inline NetworkShape shape_of(const nlohmann::json& c) {
  const auto attention = c["attention"] == "softmax" ? AttentionKind::kSoftmax : AttentionKind::kPolynomial;
  const auto norm = c["norm"] == "l2" ? NormKind::kL2 : NormKind::kL1;
  return {
      c["vocabulary"], c["width"], c["ffn"],        c["heads"], c["encoder_layers"], c["decoder_layers"], c["degree"],
      attention,       norm,       c["max_length"], c["eos"]};
}

// The bytes of tests/data/<name> as a model file, with the tiny vocabulary.
inline AlignedBytes tiny_model(const std::string& name, Flavour flavour) {
  const auto weights = read_safetensors(test_data(name + ".safetensors"));
  EXPECT_TRUE(weights.ok()) << weights.error();
  auto bytes = make_model(flavour, shape_of(read_json(name + ".json")), *weights, "{}", read_test_data("tiny.spm"));
  EXPECT_TRUE(bytes.ok()) << bytes.error();
  return std::move(*bytes);
}

}  // namespace octavo
