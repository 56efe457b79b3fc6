// octavo translate: lines in, lines out.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command.h"
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

// A line on standard error that says how far it is, for someone who waits.
class Progress {
 public:
  // total: bytes to read, 0 if nobody knows.
  Progress(bool shown, uintmax_t total) : shown_(shown), total_(total) {}
  ~Progress() {
    if (shown_) std::fprintf(stderr, "\n");
  }

  void add(size_t lines, size_t bytes) {
    lines_ += lines;
    bytes_ += bytes;
    if (!shown_) return;
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start_;
    std::string bar;
    if (total_ > 0) {
      constexpr size_t kWidth = 30;
      const double share = std::min(1.0, static_cast<double>(bytes_) / static_cast<double>(total_));
      bar.assign(static_cast<size_t>(share * kWidth), '#').resize(kWidth, '.');
      bar = "[" + bar + "] " + std::to_string(static_cast<int>(100 * share)) + " %, ";
    }
    std::fprintf(stderr, "\r%s%zu lines, %.0f lines/s ", bar.c_str(), lines_,
                 static_cast<double>(lines_) / seconds.count());
  }

 private:
  bool shown_;
  uintmax_t total_, bytes_ = 0;
  size_t lines_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void print(const TranslatedSegment& segment, const Arguments& args, std::ostream& out) {
  if (args.json) {
    out << as_json(segment) << '\n';
    return;
  }
  for (const TranslatedText& text : segment.alternatives) {
    if (args.options.scores) out << text.score << '\t';
    out << text.text << '\n';
  }
}

Status translate_lines(Translator& translator, std::istream& in, std::ostream& out, const Arguments& args) {
  const bool typed = args.input.empty() && isatty(STDIN_FILENO) != 0;
  const bool read_at_once = args.output.empty() && isatty(STDOUT_FILENO) != 0;
  std::error_code unknown;
  const uintmax_t size = std::filesystem::file_size(args.input.empty() ? "/dev/stdin" : args.input, unknown);
  Progress progress(isatty(STDERR_FILENO) != 0 && !typed && !read_at_once, unknown ? 0 : size);
  const size_t batch = typed ? 1 : args.batch;  // someone typing wants an answer to every line
  std::vector<std::string> lines;
  std::string line;
  for (bool more = true; more;) {
    lines.clear();
    size_t bytes = 0;
    while (lines.size() < batch && (more = static_cast<bool>(std::getline(in, line)))) {
      bytes += line.size() + 1;
      lines.push_back(line);
    }
    const auto translated = translator.translate(lines, args.options);
    if (!translated) return Error{translated.error()};
    for (const TranslatedSegment& segment : *translated) print(segment, args, out);
    if (!out.flush()) return Error{"the output could not be written: is the disk full?"};
    progress.add(lines.size(), bytes);
  }
  if (in.bad()) return Error{"the input could not be read to its end"};
  return std::nullopt;
}

Status run(const Arguments& args) {
  if (Status invalid = check_options(args.options)) return invalid;
  auto bytes = read_file(args.model);
  if (!bytes) return Error{bytes.error()};
  auto translator = Translator::load(std::move(*bytes), args.kernel);
  if (!translator) return Error{args.model + ": " + translator.error()};
  Result<std::ifstream> in = args.input.empty() ? std::ifstream() : open_text(args.input);
  if (!in) return Error{in.error()};
  std::error_code ignored;
  if (std::filesystem::equivalent(args.input, args.output, ignored)) {
    return Error{"input and output are the same file, which would be lost: " + args.input};
  }
  std::ofstream out;
  if (!args.output.empty()) out.open(args.output);
  if (!out) return Error{"cannot write " + args.output + ": " + std::strerror(errno)};
  return translate_lines(**translator, args.input.empty() ? std::cin : *in, args.output.empty() ? std::cout : out,
                         args);
}

}  // namespace

void add_translate(CommandLine& line) {
  auto args = std::make_shared<Arguments>();
  Command command(line, "translate", "Translate lines of text (standard input to standard output, or files)");
  command.option("model", args->model, "a model.octavo").required();
  command.option("-i,--input", args->input, "text file to read instead of standard input");
  command.option("-o,--output", args->output, "file to write instead of standard output");
  command.option("--beam", args->options.beam, "hypotheses kept per sentence; 1 is greedy");
  command.option("--alternatives", args->options.alternatives, "translations printed per line, at most --beam");
  command.flag("--scores", args->options.scores, "print the mean log-probability before each translation");
  command.flag("--alignment", args->options.alignment,
               "with --json: which source pieces each target piece attended to");
  command.flag("--json", args->json, "print one JSON object per line: alternatives, scores, offsets, alignment");
  command.option("--kernel", args->kernel, "reference, simd128, relaxed or fused (default: the fastest)");
  command.option("--batch", args->batch, "lines handed over at once; changes nothing but speed").range(1, 1'000'000);
  command.runs([args] { return run(*args); });
}

}  // namespace octavo
