// octavo translate: lines in, lines out.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands.h"
#include "io.h"
#include "octavo/translator.h"

namespace octavo {
namespace {

struct Arguments {
  std::string model, input, output, kernel;
  Options options;
  size_t batch = 256;  // lines handed over at once; the result does not depend on it
  bool json = false;
};

// One line of JSON per segment: everything that is known of its translations.
std::string as_json(const TranslatedSegment& segment) {
  nlohmann::json alternatives = nlohmann::json::array();
  for (const TranslatedText& text : segment.alternatives) {
    alternatives.push_back({{"text", text.text},
                            {"score", text.score},
                            {"tokenScores", text.token_scores},
                            {"offsets", text.offsets},
                            {"alignment", text.alignment},
                            {"loopStopped", text.loop_stopped},
                            {"lengthLimited", text.length_limited}});
  }
  const nlohmann::json line = {{"alternatives", alternatives},
                               {"sourceOffsets", segment.source_offsets},
                               {"sourceTokens", segment.source_tokens}};
  return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Status translate_lines(Translator& translator, std::istream& in, std::ostream& out, const Arguments& args) {
  const bool interactive = isatty(STDERR_FILENO) != 0 && isatty(STDIN_FILENO) == 0;
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::string> lines;
  size_t done = 0;
  std::string line;
  // Someone typing wants an answer to every line.
  const size_t batch = isatty(STDIN_FILENO) != 0 && args.input.empty() ? 1 : args.batch;
  for (bool more = true; more;) {
    lines.clear();
    while (lines.size() < batch && (more = static_cast<bool>(std::getline(in, line)))) lines.push_back(line);
    const auto translated = translator.translate(lines, args.options);
    if (!translated) return Error{translated.error()};
    for (const TranslatedSegment& segment : *translated) {
      if (args.json) {
        out << as_json(segment) << '\n';
        continue;
      }
      for (const TranslatedText& text : segment.alternatives) {
        if (args.options.scores) out << text.score << '\t';
        out << text.text << '\n';
      }
    }
    out.flush();
    done += lines.size();
    if (interactive) {
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      std::fprintf(stderr, "\r%zu lines, %.0f lines/s ", done, static_cast<double>(done) / seconds.count());
    }
  }
  if (interactive) std::fprintf(stderr, "\n");
  if (!out) return Error{"the output could not be written: is the disk full?"};
  return std::nullopt;
}

Status run(const Arguments& args) {
  auto bytes = read_file(args.model);
  if (!bytes) return Error{bytes.error()};
  auto translator = Translator::load(std::move(*bytes), args.kernel);
  if (!translator) return Error{args.model + ": " + translator.error()};
  std::ifstream in;
  std::ofstream out;
  if (!args.input.empty()) in.open(args.input);
  if (!in) return Error{"cannot read " + args.input};
  if (!args.output.empty()) out.open(args.output);
  if (!out) return Error{"cannot write " + args.output};
  return translate_lines(**translator, args.input.empty() ? std::cin : in, args.output.empty() ? std::cout : out, args);
}

}  // namespace

void add_translate(CLI::App& app) {
  auto args = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("translate", "Translate lines of text (standard input to standard output, or files)");
  command->add_option("model", args->model, "a model.octavo")->required();
  command->add_option("-i,--input", args->input, "text file to read instead of standard input");
  command->add_option("-o,--output", args->output, "file to write instead of standard output");
  command->add_option("--beam", args->options.beam, "hypotheses kept per sentence; 1 is greedy");
  command->add_option("--alternatives", args->options.alternatives, "translations printed per line, at most --beam");
  command->add_flag("--scores", args->options.scores, "print the mean log-probability before each translation");
  command->add_flag("--alignment", args->options.alignment,
                    "with --json: which source pieces each target piece attended to");
  command->add_flag("--json", args->json, "print one JSON object per line: alternatives, scores, offsets, alignment");
  command->add_option("--kernel", args->kernel, "reference, simd128, relaxed or fused (default: the fastest)");
  command->add_option("--batch", args->batch, "lines handed over at once; changes nothing but speed")
      ->check(CLI::PositiveNumber);
  on_run(command, [args] { return run(*args); });
}

}  // namespace octavo
