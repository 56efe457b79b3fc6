// octavo score: how well a model predicts a text. Perplexity per piece, end marks included.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command.h"
#include "commands.h"
#include "io.h"
#include "load_transformer.h"
#include "text/vocabulary.h"

namespace octavo {
namespace {

constexpr size_t kBatch = 32;  // sentences scored together; the result does not depend on it

// One line as pieces, each side with its end mark.
struct Example {
  std::vector<int32_t> source, target;  // source is empty for a language model
};

struct Score {
  double log_probability = 0;  // natural logarithm
  int64_t pieces = 0;
  int64_t sentences = 0;
  int64_t left_out = 0;  // longer than the model's limit

  double cross_entropy() const { return -log_probability / static_cast<double>(pieces); }
};

std::vector<int32_t> pieces_of(const Vocabulary& vocabulary, const NetworkShape& shape, std::string_view text) {
  const std::vector<int> ids = vocabulary.encode(text);
  std::vector<int32_t> pieces(ids.begin(), ids.end());
  pieces.push_back(static_cast<int32_t>(shape.eos));
  return pieces;
}

// The log-probability of each target, given its source and its own beginning. Hypotheses that have
// reached their end drop out of the step.
Result<std::vector<double>> score_batch(Transformer& model, const std::vector<Example>& batch) {
  if (batch.empty()) return std::vector<double>{};
  std::vector<int32_t> tokens, offsets = {0};
  size_t longest = 0;
  for (const Example& example : batch) {
    tokens.insert(tokens.end(), example.source.begin(), example.source.end());
    offsets.push_back(static_cast<int32_t>(tokens.size()));
    longest = std::max(longest, example.target.size());
  }
  const int sentences = static_cast<int>(batch.size());
  if (const Status status =
          model.reserve({sentences, static_cast<int>(tokens.size()), sentences, static_cast<int>(longest)})) {
    return *status;
  }
  if (model.shape().encoder_layers > 0) model.encode(tokens, offsets);

  std::vector<double> scores(batch.size());
  std::vector<float> log_probabilities(model.shape().vocabulary);
  std::vector<StepRow> rows;
  for (size_t t = 0; t < longest; ++t) {
    rows.clear();
    for (int i = 0; i < sentences; ++i) {
      const std::vector<int32_t>& target = batch[static_cast<size_t>(i)].target;
      if (t >= target.size()) continue;
      const int32_t before = t == 0 ? static_cast<int32_t>(model.shape().eos) : target[t - 1];
      rows.push_back({i, i, static_cast<int>(t), before});
    }
    model.step(rows);
    for (size_t r = 0; r < rows.size(); ++r) {
      const size_t i = static_cast<size_t>(rows[r].slot);
      model.log_probabilities(static_cast<int>(r), log_probabilities.data());
      scores[i] += log_probabilities[static_cast<size_t>(batch[i].target[t])];
    }
  }
  return scores;
}

struct Options {
  std::string model, text;
  std::string kernel{best_kernel().name};
  bool per_line = false, as_json = false;
};

class Scorer {
 public:
  Scorer(Transformer& model, const Vocabulary& vocabulary, bool per_line)
      : model_(model), vocabulary_(vocabulary), per_line_(per_line) {}

  Status add(const std::string& line, int64_t number) {
    const NetworkShape& shape = model_.shape();
    Example example;
    std::string_view target = line;
    if (shape.encoder_layers > 0) {
      const size_t tab = line.find('\t');
      if (tab == std::string::npos) {
        return Error{"line " + std::to_string(number) + " has no tab between source and target"};
      }
      example.source = pieces_of(vocabulary_, shape, target.substr(0, tab));
      target = target.substr(tab + 1);
    }
    example.target = pieces_of(vocabulary_, shape, target);
    if (std::max(example.source.size(), example.target.size()) > size_t{shape.max_length} + 1) {
      ++score_.left_out;
      if (per_line_) lines_.push_back(std::nan(""));
      return std::nullopt;
    }
    if (per_line_) lines_.push_back(0);
    places_.push_back(lines_.size());
    batch_.push_back(std::move(example));
    return batch_.size() < kBatch ? std::nullopt : flush();
  }

  Status flush() {
    const Result<std::vector<double>> scores = score_batch(model_, batch_);
    if (!scores) return Error{scores.error()};
    for (size_t i = 0; i < batch_.size(); ++i) {
      score_.log_probability += (*scores)[i];
      score_.pieces += static_cast<int64_t>(batch_[i].target.size());
      ++score_.sentences;
      if (per_line_) lines_[places_[i] - 1] = (*scores)[i];
    }
    for (const double line : lines_) std::printf("%.6f\n", line);
    lines_.clear();
    places_.clear();
    batch_.clear();
    return std::nullopt;
  }

  const Score& score() const { return score_; }

 private:
  Transformer& model_;
  const Vocabulary& vocabulary_;
  bool per_line_;
  std::vector<Example> batch_;
  std::vector<size_t> places_;  // of the batch's examples among the lines
  std::vector<double> lines_;   // log-probabilities not yet printed
  Score score_;
};

void print(const Score& score, const Options& options) {
  std::FILE* out = options.per_line ? stderr : stdout;  // the lines have standard output to themselves
  const double entropy = score.cross_entropy();
  if (options.as_json) {
    const nlohmann::ordered_json json = {{"sentences", score.sentences},
                                         {"pieces", score.pieces},
                                         {"left_out", score.left_out},
                                         {"cross_entropy", entropy},
                                         {"perplexity", std::exp(entropy)}};
    std::fprintf(out, "%s\n", json.dump().c_str());
    return;
  }
  std::fprintf(out, "sentences      %lld\n", static_cast<long long>(score.sentences));
  std::fprintf(out, "pieces         %lld\n", static_cast<long long>(score.pieces));
  std::fprintf(out, "cross-entropy  %.5f nats per piece\n", entropy);
  std::fprintf(out, "perplexity     %.4f\n", std::exp(entropy));
}

Status score(const Options& options) {
  Result<ModelFile> file = load_model(options.model);
  if (!file) return Error{file.error()};
  const auto shared = std::make_shared<const ModelFile>(std::move(*file));
  const Kernel* kernel = find_kernel(options.kernel);
  if (kernel == nullptr) return Error{"there is no kernel '" + options.kernel + "' in this build"};
  const Result<std::unique_ptr<Transformer>> model = load_transformer(shared, *kernel);
  if (!model) return Error{options.model + ": " + model.error()};
  std::string why;
  const std::optional<Vocabulary> vocabulary = Vocabulary::load(shared->vocabulary(), why);
  if (!vocabulary) return Error{options.model + ": " + why};
  if (vocabulary->size() > static_cast<int>(shared->shape().vocabulary)) {
    return Error{options.model + ": the vocabulary has more pieces than the network"};
  }

  const bool from_stdin = options.text.empty() || options.text == "-";
  Result<std::ifstream> text = from_stdin ? std::ifstream() : open_text(options.text);
  if (!text) return Error{text.error()};
  std::istream& in = from_stdin ? std::cin : *text;
  Scorer scorer(**model, *vocabulary, options.per_line);
  int64_t number = 0;
  for (std::string line; std::getline(in, line);) {
    if (const Status status = scorer.add(line, ++number)) return status;
  }
  if (const Status status = scorer.flush()) return status;
  if (scorer.score().left_out > 0) {
    std::fprintf(stderr, "octavo: %lld lines are longer than the model's limit of %u pieces and were left out\n",
                 static_cast<long long>(scorer.score().left_out), shared->shape().max_length);
  }
  if (in.bad()) return Error{"the text could not be read to its end"};
  if (scorer.score().pieces == 0) return Error{"there was nothing to score"};
  print(scorer.score(), options);
  return std::nullopt;
}

}  // namespace

void add_score(CommandLine& line) {
  Command command(line, "score", "Perplexity of a text under a language model, or of target given source");
  const auto options = std::make_shared<Options>();
  command.option("model", options->model, "Model file, INT8 or FP32").required();
  command.option("file", options->text,
                 "Text, one sentence per line (source<TAB>target for a translation model); "
                 "standard input by default");
  command.option("--kernel", options->kernel, "Kernel for INT8 models").shows_default();
  command.flag("--lines", options->per_line,
               "Print the log-probability of each line; the summary goes to standard error");
  command.flag("--json", options->as_json, "Summary as JSON");
  command.runs([options] { return score(*options); });
}

}  // namespace octavo
