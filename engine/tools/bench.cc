// octavo bench: INT8 against its FP32 twin and the vanilla FP32 Transformer, measured side by side in one run.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "command.h"
#include "commands.h"
#include "float_transformer.h"
#include "integer_transformer.h"
#include "io.h"
#include "message.h"
#include "random.h"

namespace octavo {
namespace {

struct Arguments {
  std::string kernel;
  std::vector<std::string> shapes = {"shipped", "base", "big"};
  int tokens = 24;      // per sentence, source and target
  int batch = 16;       // sentences of the batched measurement
  int repetitions = 5;  // medians over so many alternating rounds
};

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// CPU seconds to translate `sentences` sentences of `tokens` tokens into as many: encoder, then all decoder steps. The
// tokens are arbitrary, which costs the same as real text.
double translate(Transformer& network, int sentences, int tokens) {
  const int32_t vocabulary = static_cast<int32_t>(network.shape().vocabulary);
  std::vector<int32_t> source, offsets = {0};
  for (int s = 0; s < sentences; ++s) {
    for (int i = 0; i < tokens; ++i) source.push_back((s * 131 + i * 17 + 300) % vocabulary);
    offsets.push_back(static_cast<int32_t>(source.size()));
  }
  const double start = cpu_seconds();
  network.encode(source, offsets);
  std::vector<StepRow> rows(static_cast<size_t>(sentences));
  for (int position = 0; position < tokens; ++position) {
    for (int s = 0; s < sentences; ++s) {
      const int32_t previous = position == 0 ? static_cast<int32_t>(network.shape().eos) : network.best_token(s);
      rows[static_cast<size_t>(s)] = {.sentence = s, .slot = s, .position = position, .token = previous};
    }
    network.step(rows);
  }
  return cpu_seconds() - start;
}

struct Contestant {
  std::string name;
  size_t bytes;
  std::unique_ptr<Transformer> network;
  std::vector<double> single{}, batched{};
};

// A network of this shape with random weights, in one of three forms: speed does not depend on what the weights are.
Result<Contestant> contestant(const std::string& name, const NetworkShape& shape, Flavour flavour, bool vanilla,
                              const Kernel& kernel) {
  Result<AlignedBytes> bytes = random_model(shape, flavour, vanilla, "x");
  if (!bytes) return Error{bytes.error()};
  const size_t size = bytes->size();
  Result<ModelFile> file = ModelFile::open(std::move(*bytes));
  if (!file) return Error{file.error()};
  auto shared = std::make_shared<const ModelFile>(std::move(*file));
  Contestant made{name, size, nullptr};
  if (flavour == Flavour::kInt8) {
    auto network = IntegerTransformer::create(std::move(shared), kernel);
    if (!network) return Error{network.error()};
    made.network = std::move(*network);
  } else {
    auto network = FloatTransformer::create(std::move(shared));
    if (!network) return Error{network.error()};
    made.network = std::move(*network);
  }
  return made;
}

Status measure(const std::string& shape_name, const Arguments& args, const Kernel& kernel) {
  const NetworkShape shape = benchmark_shape(shape_name);
  std::vector<Contestant> contestants;
  const struct {
    const char* name;
    Flavour flavour;
    bool vanilla;
  } forms[] = {{"INT8", Flavour::kInt8, false},
               {"FP32 twin", Flavour::kFloat32, false},
               {"FP32 vanilla", Flavour::kFloat32, true}};
  for (const auto& form : forms) {
    Result<Contestant> made = contestant(form.name, shape, form.flavour, form.vanilla, kernel);
    if (!made) return Error{made.error()};
    if (const Status status = made->network->reserve({args.batch, args.batch * args.tokens, args.batch, args.tokens}))
      return status;
    contestants.push_back(std::move(*made));
  }
  // Alternating rounds, the first discarded: a change in the machine's speed hits all alike.
  for (int round = 0; round <= args.repetitions; ++round) {
    for (Contestant& c : contestants) {
      const double single = translate(*c.network, 1, args.tokens),
                   batched = translate(*c.network, args.batch, args.tokens);
      if (round == 0) continue;
      c.single.push_back(single);
      c.batched.push_back(batched);
    }
  }
  const double int8_single = median(contestants[0].single), int8_batched = median(contestants[0].batched);
  std::printf("\n%s: width %u, FFN %u, %u heads, %u + %u layers; sentences of %d tokens, CPU time of one thread\n",
              shape_name.c_str(), shape.width, shape.ffn, shape.heads, shape.encoder_layers, shape.decoder_layers,
              args.tokens);
  std::printf(
      "| %-12s | file MB | activations MB | ms/sentence | tokens/s | INT8 is | tokens/s, batch %d | INT8 is |\n", "",
      args.batch);
  std::printf(
      "|--------------|--------:|---------------:|------------:|---------:|--------:|-------------------:|--------:|"
      "\n");
  for (const Contestant& c : contestants) {
    const double single = median(c.single), batched = median(c.batched);
    std::printf("| %-12s | %7.1f | %14.1f | %11.2f | %8.0f | %6.2f× | %18.0f | %6.2f× |\n", c.name.c_str(),
                static_cast<double>(c.bytes) / 1e6, static_cast<double>(c.network->memory_bytes()) / 1e6, single * 1e3,
                args.tokens / single, single / int8_single, args.batch * args.tokens / batched, batched / int8_batched);
  }
  return std::nullopt;
}

Status run(const Arguments& args) {
  const Kernel* kernel = args.kernel.empty() ? &best_kernel() : find_kernel(args.kernel);
  if (kernel == nullptr)
    return problem({"there is no kernel \"", args.kernel, "\": choose reference, simd128, relaxed or fused"});
  std::printf("kernel %s, medians of %d rounds\n", kernel->name, args.repetitions);
  for (const std::string& shape : args.shapes) {
    if (const Status status = measure(shape, args, *kernel)) return status;
  }
  std::printf("\npeak memory of this process: %.0f MB\n", peak_megabytes());
  return std::nullopt;
}

}  // namespace

void add_bench(CommandLine& line) {
  auto args = std::make_shared<Arguments>();
  Command command(line, "bench", "Measure INT8 against FP32 at the shipped, base and big shapes");
  command.option("--shapes", args->shapes, "shipped, base, big").one_of({"shipped", "base", "big"});
  command.option("--kernel", args->kernel, "reference, simd128, relaxed or fused (default: the fastest)");
  command.option("--tokens", args->tokens, "tokens per sentence, source and target").range(1, 1000);
  command.option("--batch", args->batch, "sentences of the batched measurement").range(1, 64);
  command.option("--repetitions", args->repetitions, "rounds to take the median of").range(1, 1000);
  command.runs([args] { return run(*args); });
}

}  // namespace octavo
