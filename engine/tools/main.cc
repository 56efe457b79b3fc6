// octavo: the engine's native tool.
#include "command.h"
#include "commands.h"

int main(int argc, char** argv) {
  using namespace octavo;
  CommandLine line("Machine translation with an integer-only Transformer.", "octavo", "octavo " OCTAVO_VERSION);
  for (const auto add : {add_quantize, add_inspect, add_translate, add_evaluate, add_score, add_bench, add_random}) {
    add(line);
  }
  line.run({argv + 1, argv + argc});
  return line.exit_status();
}
