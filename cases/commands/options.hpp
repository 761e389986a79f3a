#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>

#include "harness/run/interrupt.hpp"

#include "cases/commands/cli.hpp"

namespace rankcheck::cases {

/// Adds options to a command. What they are read into must outlive the parsing.
struct AddOption {
  CLI::App& command;
  /// Whether the help shows the values that the options have before.
  bool shows_defaults = false;

  /// `name` is the name of the option and what stands for its value in the help: "--ranks A..B". A
  /// name without dashes is the one of an argument. An option for a list may be repeated. It takes
  /// one word each time, so that arguments may follow.
  template <class Value>
  CLI::Option* operator()(std::string_view name, Value& value, const std::string& what) const {
    const std::size_t end = std::min(name.find(' '), name.size());
    CLI::Option* option = command.add_option(std::string(name.substr(0, end)), value, what);
    if (end < name.size()) option->type_name(std::string(name.substr(end + 1)));
    if (name.starts_with('-')) option->allow_extra_args(false);
    return shows_defaults ? option->capture_default_str() : option;
  }
};

/// Makes the command call `work(interrupt)`, which returns the exit status. A signal before `what`
/// interrupts it.
template <class Work>
void set_work(CLI::App& command, Context& context, const char* what, Work work) {
  command.callback([&context, what, work = std::move(work)] {
    const harness::run::Interrupt interrupt;
    context.exit_status = interrupt.status_of(what, [&] { return work(interrupt); });
  });
}

}  // namespace rankcheck::cases
