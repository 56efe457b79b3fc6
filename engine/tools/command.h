// The command line: subcommands and what they take. CLI11 stays behind it: that library is all headers, and takes
// longer to compile than all of our tools.
#pragma once

#include <functional>
#include <memory>
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

class CommandLine {
 public:
  CommandLine(const char* description, const char* name, const char* version);
  ~CommandLine();

  // Runs the subcommand that the arguments name. An error, which is printed, or nothing; `exit_status` is for the
  // shell.
  Status run(std::vector<std::string> arguments);
  int exit_status() const { return exit_status_; }

 private:
  friend class Command;
  std::unique_ptr<CLI::App> app_;
  Status failure_;
  int exit_status_ = 0;
};

class Command {
 public:
  Command(CommandLine& line, const char* name, const char* help);

  // Names such as "-o,--output", or a word for a positional argument. The value must outlive the parsing.
  Argument option(const char* names, std::string& value, const char* help);
  Argument option(const char* names, std::vector<std::string>& value, const char* help);
  Argument option(const char* names, int& value, const char* help);
  Argument option(const char* names, size_t& value, const char* help);
  Argument flag(const char* names, bool& value, const char* help);

  // What to do when the subcommand was chosen.
  void runs(std::function<Status()> work);

 private:
  CommandLine& line_;
  CLI::App* command_;
};

}  // namespace octavo
