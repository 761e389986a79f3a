#include <algorithm>
#include <array>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "harness/compare/comparison_text.hpp"
#include "harness/files.hpp"
#include "harness/run/exit_status.hpp"
#include "harness/run/outputs.hpp"

#include "cases/commands/cli.hpp"

namespace rankcheck::cases {

namespace {

namespace compare = harness::compare;

struct CompareCommandOptions {
  std::string before;
  std::string now;
  std::string fail_on = "broken,coverage";
  std::string format = "text";
  std::string output;
  compare::CompareOptions limits;
};

void require_factor(const char* option, double factor) {
  if (factor >= 1) return;
  throw harness::BadInput(fmt::format("{}: {}: expected a factor of at least 1", option, factor));
}

std::string compared_text(const compare::ComparedRuns& runs,
                          const std::string& format,
                          const std::string& program) {
  if (format == "text") return to_text(runs, program);
  if (format == "markdown") return to_markdown(runs);
  return to_json(runs).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

int run_compare(const CompareCommandOptions& options, const std::string& program) {
  const std::set<compare::FailOn> matters = compare::fail_on_from(options.fail_on);
  constexpr std::array formats{"text", "markdown", "json"};
  if (std::find(formats.begin(), formats.end(), options.format) == formats.end()) {
    throw harness::BadInput(
        fmt::format("--format: {}: expected text, markdown or json", options.format));
  }
  require_factor("--accuracy-factor", options.limits.accuracy_factor);
  require_factor("--duration-factor", options.limits.duration_factor);
  if (!options.output.empty()) harness::run::require_writable_file(options.output);
  const compare::RunReport before = compare::read_run_report(options.before);
  const compare::RunReport now = compare::read_run_report(options.now);
  const compare::Comparison comparison = compare::compare(before, now, options.limits);
  const std::string text =
      compared_text({.before = before, .now = now, .comparison = comparison, .matters = matters},
                    options.format,
                    program);
  if (options.output.empty()) {
    fmt::print("{}", text);
  } else {
    harness::write_file(options.output, text);
  }
  return is_worse(comparison, matters) ? harness::run::status_failed : harness::run::status_held;
}

}  // namespace

void add_compare(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("compare", "Says what changed between two runs.");
  const auto options = std::make_shared<CompareCommandOptions>();
  command->add_option("before", options->before, "The earlier report: its folder or report.json.")
      ->required()
      ->type_name("REPORT");
  command->add_option("now", options->now, "The later report.")->required()->type_name("REPORT");
  command
      ->add_option("--fail-on",
                   options->fail_on,
                   "What makes the exit status 1: some of broken, coverage, accuracy. The default "
                   "is broken,coverage.")
      ->type_name("NAMES");
  command
      ->add_option("--accuracy-factor",
                   options->limits.accuracy_factor,
                   "An error/bound that grows by less is no change. The default is 2.")
      ->type_name("X");
  command
      ->add_option("--duration-factor",
                   options->limits.duration_factor,
                   "A duration of a unit that changes by less is no change. The default is 2.")
      ->type_name("X");
  command->add_option("--format", options->format, "text, markdown or json. The default is text.")
      ->type_name("NAME");
  command->add_option("--output", options->output, "The file to write instead of standard output.")
      ->type_name("FILE");
  command->callback(
      [options, &context] { context.exit_status = run_compare(*options, context.program); });
}

}  // namespace rankcheck::cases
