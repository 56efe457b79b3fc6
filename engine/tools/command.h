// One subcommand and what it takes. CLI11 stays behind it: that library is all headers, and takes longer to compile
// than our tools.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "octavo/status.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace octavo {

// An option or positional argument that has just been added.
class Argument {
 public:
  explicit Argument(CLI::Option* option) : option_(option) {}
  Argument required();
  Argument range(int least, int most);
  Argument one_of(std::vector<std::string> values);
  Argument needs(const char* name);
  Argument excludes(const Argument& other);
  Argument shows_default();

 private:
  CLI::Option* option_;
};

class Command {
 public:
  Command(CLI::App& app, const char* name, const char* help);

  // Names such as "-o,--output", or a word for a positional argument. The value must outlive the parsing.
  Argument option(const char* names, std::string& value, const char* help);
  Argument option(const char* names, std::vector<std::string>& value, const char* help);
  Argument option(const char* names, int& value, const char* help);
  Argument option(const char* names, size_t& value, const char* help);
  Argument flag(const char* names, bool& value, const char* help);

  // What to do when the subcommand was chosen.
  void runs(std::function<Status()> work);

 private:
  CLI::App* command_;
};

}  // namespace octavo
