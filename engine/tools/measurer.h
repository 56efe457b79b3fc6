// How good a network is on a test set: translations and BLEU, and what it predicts when it is given
// the references as history.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "octavo/status.h"
#include "text/vocabulary.h"
#include "transformer.h"

namespace octavo {

struct Measurement {
  std::vector<std::string> translations;
  double bleu = 0;
  std::vector<int32_t> best;  // the most probable token after each prefix of each reference
  double cross_entropy = 0;   // nats per token of the references
};

class Measurer {
 public:
  // Sources and references must outlive it.
  Measurer(Vocabulary vocabulary, const NetworkShape& shape, std::span<const std::string> sources,
           std::span<const std::string> references);

  // Greedy search; a source that is too long for the model is split as the translator does.
  Result<Measurement> measure(Transformer& network) const;

  // Feeds the references to several networks in step. `use` sees each row, after all networks have
  // computed it, with the token that follows. References that are too long are left out.
  Status force(std::span<Transformer* const> networks, const std::function<void(int row, int32_t next)>& use) const;
  size_t forced_sentences() const { return examples_.size(); }

 private:
  using Tokens = std::vector<int32_t>;
  struct Example {
    Tokens source, target;  // with end marks
  };

  Status translate(Transformer& network, Measurement& result) const;

  Vocabulary vocabulary_;
  NetworkShape shape_;
  std::span<const std::string> references_;
  std::vector<std::vector<Tokens>> runs_;  // of each source: more than one if it is too long
  std::vector<Example> examples_;          // those that fit the model
};

}  // namespace octavo
