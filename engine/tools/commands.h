// The subcommands of `octavo`. Each lives in a file of its own.
#pragma once

namespace octavo {

class CommandLine;

void add_quantize(CommandLine& line);
void add_inspect(CommandLine& line);
void add_translate(CommandLine& line);
void add_evaluate(CommandLine& line);
void add_score(CommandLine& line);
void add_bench(CommandLine& line);
void add_random(CommandLine& line);

}  // namespace octavo
