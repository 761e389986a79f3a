#include "cases/commands/program.hpp"

#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gpu/device/vendor_library.hpp"

#include "harness/base/files.hpp"
#include "harness/base/nearest.hpp"
#include "harness/base/table.hpp"
#include "harness/run/exit_status.hpp"
#include "harness/run/option_values.hpp"
#include "harness/worker/session.hpp"

#include "cases/backends/command_backend.hpp"
#include "cases/backends/hybrid.hpp"
#include "cases/commands/cli.hpp"
#include "cases/commands/github.hpp"
#include "cases/commands/version.hpp"

namespace rankcheck::cases {

namespace {

/// Prints one line of less than 300 characters to stderr, whatever the text contains. Returns the
/// exit status.
int complain(std::string_view what) {
  constexpr std::size_t bytes_max = 280;
  fmt::print(stderr, "rankcheck: {}\n", harness::shortened(what, bytes_max));
  return harness::run::status_unable;
}

/// Does the same, and tells GitHub Actions of a run or a comparison that could not be made.
int complain_of(const std::vector<std::string>& arguments, std::string_view what) {
  const std::string command = arguments.empty() ? "" : arguments.front();
  if (command == "run" || command == "compare") {
    const std::string title = "rankcheck " + command;
    tell_github(fmt::format("## {}\n\n**Nothing could be judged:** {}\n",
                            title,
                            harness::github::in_markdown(what)),
                {{.title = title, .message = harness::printable(what)}});
  }
  return complain(what);
}

/// Throws BadInput unless the command line begins with a command or an option. `first` is its first
/// argument, or null.
void require_command(const CLI::App& app, const char* first) {
  const std::string word = first == nullptr ? "" : first;
  std::vector<std::string> names;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (each->get_name() == word || word.starts_with('-')) return;
    // Commands that users do not call have no group, so --help leaves them out.
    if (!each->get_group().empty()) names.push_back(each->get_name());
  }
  std::string what = fmt::format("{:.60}: there is no such command", word);
  if (word.empty()) what = first == nullptr ? "got none" : "got an empty word";
  throw harness::BadInput(fmt::format("command: {}, expected one of {}{}",
                                      what,
                                      fmt::join(names, ", "),
                                      harness::did_you_mean(word, names)));
}

/// Rejects values that would be misunderstood:
/// - empty values, which would silently mean the default,
/// - numbers that are not decimal, such as 010, which CLI11 reads as 8,
/// - negative numbers where there are none, and too large ones: CLI11 reads both as the largest
///   number,
/// - NaN, which CLI::Range accepts.
void refuse_values_that_are_none(CLI::App& app) {
  const auto complain_of_nothing = [](std::string& value) {
    return value.empty() ? std::string("got nothing, expected a value") : std::string();
  };
  const auto complain_of_digits = [](std::string& value) {
    if (harness::run::is_whole_number(value)) return std::string();
    return fmt::format("got {:.60}, expected decimal digits", value);
  };
  const auto complain_of_unsigned = [](std::string& value) {
    if (value.starts_with('-')) {
      return fmt::format("got {:.60}, expected 0 or a larger number", value);
    }
    std::uint64_t number = 0;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
    if (read.ec != std::errc::result_out_of_range) return std::string();
    return fmt::format("got {:.60}, expected a number below 2^64", value);
  };
  const auto complain_of_number = [](std::string& value) {
    if (harness::run::is_decimal_number(value)) return std::string();
    return fmt::format("got {:.60}, expected a finite decimal number", value);
  };
  std::vector<CLI::App*> commands = app.get_subcommands([](CLI::App*) { return true; });
  commands.push_back(&app);
  for (CLI::App* command : commands) {
    for (CLI::Option* option : command->get_options()) {
      const bool is_flag = option->get_items_expected_max() == 0;
      // The type names that the commands give to numbers, or CLI11's own. The names of the checks
      // follow after a colon.
      const std::string type = option->get_type_name();
      const std::string kind = type.substr(0, type.find(':'));
      // Runs this check before the checks that the commands have added.
      const auto check_first = [&](const auto& complain_of) {
        option->transform(CLI::Validator(complain_of, ""));
      };
      if (kind == "UINT") check_first(complain_of_unsigned);
      if (kind == "INT" || kind == "UINT" || kind == "N" || kind == "K") {
        check_first(complain_of_digits);
      }
      if (kind == "FLOAT" || kind == "S" || kind == "SECONDS" || kind == "X" || kind == "METRES") {
        check_first(complain_of_number);
      }
      if (!is_flag) check_first(complain_of_nothing);
    }
  }
}

/// Complains of the first word that neither the program nor its command takes. Empty if there is
/// none.
std::string complaint_of_extras(const CLI::App& app) {
  const std::vector<std::string> extras = app.remaining(true);
  if (extras.empty()) return {};
  const std::string& extra = extras.front();
  if (!extra.starts_with('-')) return fmt::format("{:.60}: is a word too many", extra);
  std::vector<std::string> names;
  const auto add_names_of = [&](const CLI::App& each) {
    for (const CLI::Option* option : each.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  };
  add_names_of(app);
  for (const CLI::App* command : app.get_subcommands()) add_names_of(*command);
  const std::string word = extra.substr(0, extra.find('='));
  return fmt::format("{:.60}: there is no such option{}", word, harness::did_you_mean(word, names));
}

/// Returns CLI11's complaint about the number or the size of an option's values in the words of
/// this program: "--jobs: got it 2 times, expected it at most once", "--seed: got nothing, expected
/// N|commit", "--cases: got 999999999999, expected a smaller number". Returns other complaints as
/// they are.
std::string in_own_words(const std::string& complaint) {
  constexpr std::string_view unread = "Could not convert: ";
  constexpr std::string_view is = " = ";
  // Only numbers are converted, and what is none was refused before.
  if (complaint.starts_with(unread) && complaint.find(is) != std::string::npos) {
    const std::size_t end = complaint.find(is);
    const std::string value = complaint.substr(end + is.size());
    return fmt::format("{}: got {:.60}, expected a {} number",
                       complaint.substr(unread.size(), end - unread.size()),
                       value,
                       value.starts_with('-') ? "larger" : "smaller");
  }
  constexpr std::string_view most = ": At Most 1 required but received ";
  constexpr std::string_view least = ": 1 required ";
  constexpr std::string_view missing = " missing";
  if (const std::size_t at = complaint.find(most); at != std::string::npos) {
    return fmt::format("{}: got it {} times, expected it at most once",
                       complaint.substr(0, at),
                       complaint.substr(at + most.size()));
  }
  const std::size_t at = complaint.find(least);
  if (at == std::string::npos || !complaint.ends_with(missing)) return complaint;
  const std::size_t begin = at + least.size();
  return fmt::format("{}: got nothing, expected {}",
                     complaint.substr(0, at),
                     complaint.substr(begin, complaint.size() - missing.size() - begin));
}

/// Adds the options of the program itself, which the environment passes on to workers. Printed
/// commands repeat them.
void add_own_options(CLI::App& app, Context& context) {
  const auto add = [&](const char* option, const char* variable, const std::string& what) {
    const auto set = [option, variable, &context](const std::string& value) {
      ::setenv(variable, value.c_str(), 1);
      context.program += fmt::format(" {} {}", option, harness::shell_quoted(value));
    };
    return app.add_option_function<std::string>(option, set, what)->trigger_on_parse();
  };
  for (const gpu::VendorLibrary& library : gpu::vendor_libraries) {
    add(library.option,
        library.variable,
        fmt::format("The file of {} or of a library with its interface.", library.name))
        ->type_name("PATH");
  }
  add("--devices-per-process",
      devices_per_process_variable,
      "The number of devices of each process of hybrid. Default: 2.")
      ->type_name("N")
      ->check(CLI::Range(1, devices_per_process_max));
  add("--devices",
      hybrid_devices_variable,
      "The devices of hybrid: simulated ones (sim) or those of CUDA. Default: sim.")
      ->check(CLI::IsMember({"sim", "cuda"}));
  add("--start-timeout",
      harness::worker::start_timeout_variable,
      "The seconds in which the workers of a backend must say hello. Default: 60.")
      ->type_name("S")
      ->check(CLI::Range(0.001, harness::worker::timeout_max_s));
  add("--end-timeout",
      harness::worker::end_timeout_variable,
      "The seconds in which the workers of a backend must end when they are no longer needed. "
      "Later ones are killed, with a warning. Default: 10; 60 for nccl.")
      ->type_name("S")
      ->check(CLI::Range(0.001, harness::worker::timeout_max_s));
}

/// Returns the arguments without the options of the program itself, which the environment passes on
/// to other programs. The first argument is then the command.
std::vector<std::string> without_own_options(const CLI::App& app,
                                             std::span<char* const> arguments) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string word = arguments[i];
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const CLI::Option* own = name.starts_with("--") ? app.get_option_no_throw(name) : nullptr;
    if (own == nullptr || own->get_items_expected_max() == 0) {
      kept.push_back(word);
    } else if (equals == std::string::npos) {
      ++i;
    }
  }
  return kept;
}

/// Shows the options of the program itself in the help of every command, which takes them, too.
class HelpWithOwnOptions : public CLI::Formatter {
 public:
  [[nodiscard]] std::string make_footer(const CLI::App* app) const override {
    const std::string footer = CLI::Formatter::make_footer(app);
    const CLI::App* const program = app->get_parent();
    if (program == nullptr) return footer;
    const auto takes_value = [](const CLI::Option* option) {
      return option->get_items_expected_max() > 0;
    };
    return make_group("Options of every command", false, program->get_options(takes_value)) +
           footer;
  }
};

int parse_and_run(int argc, char** argv) {
  Context context{.program = harness::shell_quoted(argv[0])};
  CLI::App app("Verifies multi-GPU code: collectives and operators against their references.");
  app.name("rankcheck");
  app.formatter(std::make_shared<HelpWithOwnOptions>());
  app.set_version_flag("--version", describe_build);
  app.require_subcommand(1);
  app.fallthrough();
  add_own_options(app, context);
  context.arguments =
      without_own_options(app, std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
  add_list(app, context);
  add_run(app, context);
  add_replay(app, context);
  add_export(app, context);
  add_evaluate(app, context);
  add_relay(app, context);
  add_check_worker(app, context);
  add_audit(app, context);
  add_report(app, context);
  add_compare(app, context);
  add_doctor(app, context);
  add_bench(app, context);
  add_simulate(app, context);
  add_reconstruct(app, context);
  add_import_trace(app, context);
  require_command(app, argc > 1 ? argv[1] : nullptr);
  refuse_values_that_are_none(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 reports help and version as errors of status 0.
    if (error.get_exit_code() == 0) return app.exit(error);
    const bool is_extra = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
    const std::string what = is_extra ? complaint_of_extras(app) : in_own_words(error.what());
    return complain_of(context.arguments, fmt::format("command line: {} (see --help)", what));
  } catch (const std::filesystem::filesystem_error& error) {
    return complain_of(context.arguments,
                       fmt::format("cannot use: {}: {}",
                                   error.path1().string(),
                                   harness::reason_of(error.code().value())));
  } catch (const std::exception& error) {
    return complain_of(context.arguments, error.what());
  }
  if (std::fflush(stdout) != 0) return complain("standard output: cannot be written");
  return context.exit_status;
}

}  // namespace

int run_program(int argc, char** argv) {
  // Some parents ignore it, and this program would then complain when `head` has read enough.
  std::signal(SIGPIPE, SIG_DFL);
  try {
    return parse_and_run(argc, argv);
  } catch (const std::exception& error) {
    return complain(error.what());
  }
}

}  // namespace rankcheck::cases
