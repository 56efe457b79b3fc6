// octavo: the engine's native tool.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "commands.h"

namespace octavo {

void on_run(CLI::App* command, std::function<Status()> work) {
  command->callback([work = std::move(work)] {
    if (const Status status = work()) {
      std::fprintf(stderr, "octavo: %s\n", status->message.c_str());
      std::exit(1);
    }
  });
}

}  // namespace octavo

int main(int argc, char** argv) {
  CLI::App app{"Machine translation with an integer-only Transformer.", "octavo"};
  app.set_version_flag("--version", "octavo " OCTAVO_VERSION);
  app.require_subcommand(1);
  octavo::add_quantize(app);
  octavo::add_inspect(app);
  octavo::add_translate(app);
  octavo::add_evaluate(app);
  octavo::add_score(app);
  octavo::add_bench(app);
  octavo::add_random(app);
  CLI11_PARSE(app, argc, argv);
  return 0;
}
