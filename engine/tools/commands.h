// The subcommands of `octavo`. Each lives in a file of its own; main.cc calls these functions.
#pragma once

#include <functional>

#include "octavo/status.h"

namespace CLI {
class App;
}

namespace octavo {

void add_quantize(CLI::App& app);
void add_inspect(CLI::App& app);
void add_translate(CLI::App& app);
void add_bench(CLI::App& app);
void add_random(CLI::App& app);
void add_score(CLI::App& app);
void add_evaluate(CLI::App& app);

// Runs `work` when the subcommand was chosen; an error is printed and ends the program with status 1.
void on_run(CLI::App* command, std::function<Status()> work);

}  // namespace octavo
