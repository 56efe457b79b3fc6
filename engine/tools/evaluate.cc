// octavo evaluate: BLEU and chrF of a model on a test set, INT8 and FP32 side by side.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ablation.h"
#include "bleu.h"
#include "chrf.h"
#include "command.h"
#include "commands.h"
#include "io.h"
#include "message.h"
#include "octavo/translator.h"

namespace octavo {
namespace {

struct Arguments {
  std::string model, fp32, test, output, kernel;
  Options options;
  size_t limit = 0;  // 0: the whole test set
  bool json = false;
  bool ablation = false;
};

struct TestSet {
  std::vector<std::string> sources, references;
  size_t source_words = 0;
};

// One model's translations of the test set, and how good they are.
struct Measurement {
  std::string precision;  // "int8" or "fp32", as in the JSON
  std::string kernel;
  std::vector<std::string> translations;
  double seconds = 0;
  BleuScore bleu;
  double chrf = 0;
  size_t loops_stopped = 0;
};

size_t count_words(std::string_view text) {
  size_t words = 0;
  bool inside = false;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\t';
    words += !space && !inside;
    inside = !space;
  }
  return words;
}

Result<TestSet> read_test_set(const std::string& path, size_t limit) {
  const Result<std::string> text = read_text(path);
  if (!text) return Error{text.error()};
  TestSet test;
  std::string_view rest = *text;
  for (size_t number = 1; !rest.empty() && (limit == 0 || test.sources.size() < limit); ++number) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const size_t tab = line.find('\t');
    if (tab == line.npos) return problem({path, ", line ", std::to_string(number), ": expected source<TAB>reference"});
    test.sources.emplace_back(line.substr(0, tab));
    test.references.emplace_back(line.substr(tab + 1));
    test.source_words += count_words(test.sources.back());
  }
  if (test.sources.empty()) return problem({path, " is empty: expected lines of source<TAB>reference"});
  return test;
}

Result<std::unique_ptr<Translator>> open_translator(const std::string& path, const std::string& kernel) {
  Result<AlignedBytes> bytes = read_file(path);
  if (!bytes) return Error{bytes.error()};
  auto translator = Translator::load(std::move(*bytes), kernel);
  if (!translator) return problem({path, ": ", translator.error()});
  return translator;
}

std::string precision_of(const Translator& translator) { return translator.info().kernel == "float" ? "fp32" : "int8"; }

// The best translation of each line; a batch at a time, so that there is progress to show.
Status translate_all(Translator& translator, const TestSet& test, const Options& options, Measurement& result) {
  constexpr size_t kBatch = 256;
  const bool interactive = isatty(STDERR_FILENO) != 0;
  const auto start = std::chrono::steady_clock::now();
  for (size_t begin = 0; begin < test.sources.size(); begin += kBatch) {
    const size_t count = std::min(kBatch, test.sources.size() - begin);
    const auto first = test.sources.begin() + static_cast<std::ptrdiff_t>(begin);
    auto batch = translator.translate({first, first + static_cast<std::ptrdiff_t>(count)}, options);
    if (!batch) return Error{batch.error()};
    for (TranslatedSegment& segment : *batch) {
      result.loops_stopped += segment.alternatives.front().loop_stopped;
      result.translations.push_back(std::move(segment.alternatives.front().text));
    }
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    result.seconds = elapsed.count();
    if (interactive) {
      std::fprintf(stderr, "\r%s: %zu of %zu sentences, %.0f s ", result.precision.c_str(), begin + count,
                   test.sources.size(), result.seconds);
    }
  }
  if (interactive) std::fprintf(stderr, "\n");
  return std::nullopt;
}

Result<Measurement> measure(Translator& translator, const TestSet& test, const Options& options) {
  Measurement result;
  result.kernel = translator.info().kernel;
  result.precision = precision_of(translator);
  if (Status status = translate_all(translator, test, options, result)) return *status;
  Bleu bleu;
  Chrf chrf;
  for (size_t i = 0; i < test.sources.size(); ++i) {
    bleu.add(result.translations[i], test.references[i]);
    chrf.add(result.translations[i], test.references[i]);
  }
  result.bleu = bleu.score();
  result.chrf = chrf.score();
  return result;
}

double words_per_second(const TestSet& test, const Measurement& result) {
  return result.seconds > 0 ? static_cast<double>(test.source_words) / result.seconds : 0;
}

void print_json(const std::vector<Measurement>& results, const TestSet& test, const Arguments& args) {
  nlohmann::ordered_json json = {{"test", args.test},
                                 {"sentences", test.sources.size()},
                                 {"source_words", test.source_words},
                                 {"beam", args.options.beam},
                                 {"signature", {{"bleu", kBleuSignature}, {"chrf", kChrfSignature}}}};
  for (const Measurement& result : results) {
    const auto& key = result.precision;
    json["bleu"][key] = result.bleu.bleu;
    json["chrf"][key] = result.chrf;
    json["seconds"][key] = result.seconds;
    json["words_per_second"][key] = words_per_second(test, result);
    json["brevity_penalty"][key] = result.bleu.brevity_penalty;
    json["precisions"][key] = result.bleu.precisions;
    json["loops_stopped"][key] = result.loops_stopped;
    json["kernel"][key] = result.kernel;
  }
  std::printf("%s\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

void print_table(const std::vector<Measurement>& results, const TestSet& test, const Arguments& args) {
  const auto row = [&](const char* name, auto value) {
    std::printf("%-16s", name);
    for (const Measurement& result : results) std::printf("%10.2f", value(result));
    std::printf("\n");
  };
  std::printf("%zu sentences, beam %d\n%-16s", test.sources.size(), args.options.beam, "");
  for (const Measurement& result : results) std::printf("%10s", result.precision == "int8" ? "INT8" : "FP32");
  std::printf("\n");
  row("BLEU", [](const Measurement& m) { return m.bleu.bleu; });
  row("chrF2", [](const Measurement& m) { return m.chrf; });
  row("brevity penalty", [](const Measurement& m) { return m.bleu.brevity_penalty; });
  row("seconds", [](const Measurement& m) { return m.seconds; });
  row("source words/s", [&](const Measurement& m) { return words_per_second(test, m); });
  std::printf("BLEU  %s\nchrF2 %s\n", kBleuSignature.data(), kChrfSignature.data());
}

// One line per sentence, one column per model.
Status write_translations(const std::vector<Measurement>& results, const std::string& path) {
  std::string text;
  for (size_t i = 0; i < results.front().translations.size(); ++i) {
    for (size_t k = 0; k < results.size(); ++k) {
      if (k > 0) text += '\t';
      text += results[k].translations[i];
    }
    text += '\n';
  }
  return write_file(path, std::as_bytes(std::span(text)));
}

Status run_ablation(const Arguments& args, const TestSet& test) {
  AblationInput input = {{}, {}, test.sources, test.references};
  for (const auto& [path, file] : {std::pair(&args.model, &input.int8), std::pair(&args.fp32, &input.fp32)}) {
    Result<ModelFile> model = load_model(*path);
    if (!model) return Error{model.error()};
    *file = std::make_shared<const ModelFile>(std::move(*model));
  }
  return print_ablation(input, stdout);
}

Status run(const Arguments& args) {
  if (Status status = check_options(args.options)) return status;  // before minutes are spent
  const Result<TestSet> test = read_test_set(args.test, args.limit);
  if (!test) return Error{test.error()};
  if (args.ablation) return run_ablation(args, *test);
  std::vector<std::unique_ptr<Translator>> models;
  for (const std::string& path : {args.model, args.fp32}) {
    if (path.empty()) continue;
    const bool first = models.empty();  // the kernel was chosen for the model, its twin has no choice
    auto model = open_translator(path, first ? args.kernel : "");
    if (!model) return Error{model.error()};
    const std::string precision = precision_of(**model);
    if (!first && precision == precision_of(*models.front())) {
      return problem({path, ": expected one INT8 and one FP32 model, both are ", precision});
    }
    models.push_back(std::move(*model));
  }
  std::vector<Measurement> results;
  for (const auto& model : models) {
    Result<Measurement> result = measure(*model, *test, args.options);
    if (!result) return Error{result.error()};
    results.push_back(std::move(*result));
  }
  args.json ? print_json(results, *test, args) : print_table(results, *test, args);
  if (!args.output.empty()) return write_translations(results, args.output);
  return std::nullopt;
}

}  // namespace

void add_evaluate(CommandLine& line) {
  auto args = std::make_shared<Arguments>();
  Command command(line, "evaluate", "Measure BLEU and chrF on a test set, INT8 and FP32 side by side");
  command.option("model", args->model, "a model.octavo").required();
  command.option("--test", args->test, "lines of source<TAB>reference").required();
  command.option("--fp32", args->fp32, "the same model in FP32, to compare with");
  const Argument beam = command.option("--beam", args->options.beam, "hypotheses kept per sentence; 1 is greedy");
  command.option("--limit", args->limit, "only so many lines from the beginning of the test set")
      .range(1, 1'000'000'000);
  const Argument kernel =
      command.option("--kernel", args->kernel, "reference, simd128, relaxed or fused (default: the fastest)");
  const Argument output =
      command.option("-o,--output", args->output, "file for the translations, one line each, a column per model");
  const Argument json = command.flag("--json", args->json, "print JSON");
  command.flag("--ablation", args->ablation, "print the paper's tables as Markdown instead; needs --fp32")
      .needs("--fp32")
      .excludes(json)
      .excludes(beam)
      .excludes(kernel)
      .excludes(output);
  command.runs([args] { return run(*args); });
}

}  // namespace octavo
