#include "cases/commands/run_options.hpp"

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "harness/backend.hpp"
#include "harness/fields.hpp"
#include "harness/run/option_values.hpp"

#include "cases/commands/archive.hpp"

namespace rankcheck::cases {

namespace {

using harness::BadInput;

/// Returns a seed that changes with every commit: 48 bits of the commit's hash, which a JSON number
/// holds exactly. Throws BadInput if there is no commit.
std::uint64_t seed_of_commit() {
  std::FILE* git = ::popen("git rev-parse HEAD 2>/dev/null", "r");
  char hash[13] = {};
  const std::size_t got = git == nullptr ? 0 : std::fread(hash, 1, 12, git);
  if (git == nullptr || ::pclose(git) != 0 || got != 12) {
    throw BadInput("--seed commit: " + std::filesystem::current_path().string() +
                   ": expected a working directory of git with a commit");
  }
  return std::stoull(hash, nullptr, 16);
}

/// Each job needs a thread and, with some backends, processes.
constexpr int jobs_max = 256;

/// Whether the whole text is a whole number in the range of its type.
template <class Number>
bool parse(std::string_view text, Number& out) {
  if (!harness::run::is_whole_number(text)) return false;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, out);
  return error == std::errc{} && stop == end;
}

std::uint64_t parse_seed(const std::string& text) {
  if (text == "commit") return seed_of_commit();
  std::uint64_t seed = 0;
  if (!parse(text, seed)) throw BadInput("--seed: " + text + ": expected a whole number or commit");
  return seed;
}

/// Parses "A..B" or "N" into two numbers. Throws BadInput.
std::vector<int> parse_ranks(const std::string& text) {
  const std::size_t dots = text.find("..");
  const std::string_view whole = text;
  int least = 0;
  int most = 0;
  const bool is_read = dots == std::string::npos ? parse(whole, least) && parse(whole, most)
                                                 : parse(whole.substr(0, dots), least) &&
                                                       parse(whole.substr(dots + 2), most);
  if (!is_read || least < 1 || most < least) {
    throw BadInput("--ranks: " + text + ": expected A..B or N with 1 <= A <= B");
  }
  return {least, most};
}

std::vector<spec::Type> parse_types(const std::string& text) {
  std::vector<spec::Type> types;
  for (const std::string& each : harness::run::split_list("--type", text)) {
    try {
      harness::read_value(each, types.emplace_back());
    } catch (const BadInput& bad) {
      throw BadInput(std::string("--type: ") + bad.what());
    }
  }
  return types;
}

template <class Number>
void expect_positive(const char* option, Number value) {
  if (!(value > 0)) throw BadInput(fmt::format("{}: {}: expected a number above 0", option, value));
}

/// Throws BadInput unless the value is above 0 and at most a year. So it can be added to a time
/// without overflow.
void expect_seconds(const char* option, double value) {
  constexpr double year_s = 365.0 * 24 * 60 * 60;
  if (value > 0 && value <= year_s) return;
  throw BadInput(fmt::format(
      "{}: {}: expected a number of seconds above 0, at most {:.0f}", option, value, year_s));
}

}  // namespace

double timeout_s(const RunOptions& options) {
  return options.timeout_s.value_or(harness::BackendOptions().timeout_s);
}

void add_options(CLI::App& command, RunOptions& options) {
  Selection& selection = options.selection;
  command.footer(
      "Options restrict the suites. If no suite is named, they restrict smoke. If smoke\n"
      "has nothing that they select, they restrict all: every check, on sim or on the\n"
      "named backends.");
  command
      .add_option("suites", selection.suites, "The names of suites, or the paths of their files.")
      ->type_name("SUITE");
  command
      .add_option("--operation", selection.operation, "Selects the operations whose names match.")
      ->type_name("GLOB");
  command
      .add_option("--algorithm", selection.algorithm, "Selects the algorithms whose names match.")
      ->type_name("GLOB");
  command.add_option("--property", selection.property, "Selects the properties whose names match.")
      ->type_name("GLOB");
  command.add_option("--backend", options.backends, "The backends, separated by commas.")
      ->type_name("LIST");
  command.add_option("--ranks", options.ranks, "The least and the greatest number of ranks.")
      ->type_name("A..B");
  command.add_option("--type", options.types, "The element types, separated by commas.")
      ->type_name("LIST");
  command
      .add_option("--cases",
                  selection.cases,
                  "The number of cases of each unit. With this option, not all cells are required.")
      ->type_name("N");
  command
      .add_option(
          "--require",
          selection.require,
          "Cells that must be covered, as <operation>/<cell>, for example all_reduce/f32/*.")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  command
      .add_option("--seed",
                  options.seed,
                  "The seed of the cases: a number, or commit for a seed from git's HEAD.")
      ->type_name("N|commit");
  command
      .add_option("--time-budget",
                  options.time_budget_s,
                  "The seconds for the whole run in all its sessions. For the gate: the seconds "
                  "for this call.")
      ->type_name("S");
  command
      .add_option("--timeout",
                  options.timeout_s,
                  "The seconds without a message from any worker after which a case counts as "
                  "hung. A run of one case also counts as hung after ten times this time.")
      ->type_name("S");
  command.add_option("--report", options.report, "The folder for the journal and the reports.")
      ->type_name("DIR");
  command.add_option("--resume", options.resume, "The folder of a run to continue.")
      ->type_name("DIR");
  command.add_option("--archive", options.archive, "Packs the folder into this file at the end.")
      ->type_name("FILE.zip");
  command.add_option("--jobs", options.jobs, "The number of units to check at the same time.")
      ->type_name("N");
  command.add_flag("--fail-fast", options.fail_fast, "Stops at the first failure.");
}

Selection parse_selection(const RunOptions& options) {
  expect_positive("--jobs", options.jobs);
  if (options.jobs > jobs_max) {
    throw BadInput(fmt::format("--jobs: {}: expected at most {}", options.jobs, jobs_max));
  }
  if (options.timeout_s) expect_seconds("--timeout", *options.timeout_s);
  if (options.time_budget_s) expect_seconds("--time-budget", *options.time_budget_s);
  if (!options.report.empty() && !options.resume.empty()) {
    throw BadInput("--report: " + options.report + ": expected --report or --resume, not both");
  }
  if (!options.archive.empty()) require_archive(options.archive);
  Selection selection = options.selection;
  if (selection.cases) expect_positive("--cases", *selection.cases);
  if (!options.ranks.empty()) selection.ranks = parse_ranks(options.ranks);
  if (!options.types.empty()) selection.types = parse_types(options.types);
  if (!options.backends.empty())
    selection.backends = harness::run::split_list("--backend", options.backends);
  if (!options.seed.empty()) selection.seed = parse_seed(options.seed);
  return selection;
}

}  // namespace rankcheck::cases
