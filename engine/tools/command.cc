#include "command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "message.h"

namespace octavo {

CommandLine::CommandLine(const char* description, const char* name, const char* version)
    : app_(std::make_unique<CLI::App>(description, name)) {
  app_->set_version_flag("--version", version);
  app_->require_subcommand(1);
}
CommandLine::~CommandLine() = default;

Status CommandLine::run(std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  failure_.reset();
  try {
    app_->parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {  // among them --help and --version, which are none
    exit_status_ = app_->exit(error);
    return exit_status_ == 0 ? std::nullopt : Status(Error{error.what()});
  }
  // A full disk or a closed pipe behind standard output must not look like success.
  if (!failure_ && (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)) {
    failure_ = problem({"cannot write to standard output: ", std::strerror(errno)});
  }
  exit_status_ = failure_ ? 1 : 0;
  if (failure_) std::fprintf(stderr, "%s: %s\n", app_->get_name().c_str(), failure_->message.c_str());
  return failure_;
}

Argument Argument::required() { return Argument(option_->required()); }
Argument Argument::range(int least, int most) { return Argument(option_->check(CLI::Range(least, most))); }
Argument Argument::one_of(std::vector<std::string> values) {
  return Argument(option_->check(CLI::IsMember(std::move(values))));
}
Argument Argument::needs(const char* name) { return Argument(option_->needs(name)); }
Argument Argument::excludes(const Argument& other) { return Argument(option_->excludes(other.option_)); }
Argument Argument::shows_default() { return Argument(option_->capture_default_str()); }

Command::Command(CommandLine& line, const char* name, const char* help)
    : line_(line), command_(line.app_->add_subcommand(name, help)) {}

Argument Command::option(const char* names, std::string& value, const char* help) {
  return Argument(command_->add_option(names, value, help));
}
Argument Command::option(const char* names, std::vector<std::string>& value, const char* help) {
  return Argument(command_->add_option(names, value, help));
}
Argument Command::option(const char* names, int& value, const char* help) {
  return Argument(command_->add_option(names, value, help));
}
Argument Command::option(const char* names, size_t& value, const char* help) {
  return Argument(command_->add_option(names, value, help));
}
Argument Command::flag(const char* names, bool& value, const char* help) {
  return Argument(command_->add_flag(names, value, help));
}

void Command::runs(std::function<Status()> work) {
  command_->callback([&line = line_, work = std::move(work)] { line.failure_ = work(); });
}

}  // namespace octavo
