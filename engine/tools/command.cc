#include "command.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "commands.h"

namespace octavo {

Argument Argument::required() { return Argument(option_->required()); }
Argument Argument::range(int least, int most) { return Argument(option_->check(CLI::Range(least, most))); }
Argument Argument::one_of(std::vector<std::string> values) {
  return Argument(option_->check(CLI::IsMember(std::move(values))));
}
Argument Argument::needs(const char* name) { return Argument(option_->needs(name)); }
Argument Argument::excludes(const Argument& other) { return Argument(option_->excludes(other.option_)); }
Argument Argument::shows_default() { return Argument(option_->capture_default_str()); }

Command::Command(CLI::App& app, const char* name, const char* help) : command_(app.add_subcommand(name, help)) {}

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

void Command::runs(std::function<Status()> work) { on_run(command_, std::move(work)); }

}  // namespace octavo
