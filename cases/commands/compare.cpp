#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "harness/base/files.hpp"
#include "harness/compare/comparison_text.hpp"
#include "harness/compare/known_failures.hpp"
#include "harness/known/known_defects.hpp"
#include "harness/report/report.hpp"
#include "harness/report/text_style.hpp"
#include "harness/run/exit_status.hpp"
#include "harness/run/outputs.hpp"

#include "cases/commands/github.hpp"
#include "cases/commands/options.hpp"
#include "cases/suites/catalogue.hpp"

namespace rankcheck::cases {

namespace {

namespace compare = harness::compare;

struct CompareCommandOptions {
  std::vector<std::string> reports;
  std::string fail_on = "broken,coverage";
  std::string format = "text";
  std::string output;
  compare::CompareOptions limits;
  std::vector<std::string> known;
  bool strict_known = false;
};

void require_factor(const char* option, double factor) {
  if (factor >= 1) return;
  throw harness::BadInput(fmt::format("{}: {}: expected a factor of at least 1", option, factor));
}

std::string compared_text(const compare::ComparedRuns& runs,
                          const std::string& format,
                          const std::string& program,
                          harness::TextStyle style) {
  if (format == "text") return to_text(runs, program, style);
  if (format == "markdown") return to_markdown(runs);
  if (format == "html") return to_html(runs);
  return to_json(runs).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

/// Reads files of known defects.
std::vector<harness::KnownDefect> known_defects(const std::vector<std::string>& paths) {
  if (paths.empty()) return {};
  return harness::known_from_json(harness::read_known_files(paths, make_catalogue()), "--known");
}

/// Tells GitHub Actions what changed. Annotations must not be printed between the bytes of a page
/// or of JSON.
void tell_github_of(const compare::ComparedRuns& runs, const CompareCommandOptions& options) {
  const bool may_annotate = is_worse(runs) && (options.format == "text" || !options.output.empty());
  tell_github(harness::github::to_step_summary(to_markdown(runs)),
              may_annotate ? annotations_of(runs.comparison, verdict_of(runs))
                           : std::vector<harness::github::Annotation>());
}

/// Throws BadInput if the output would replace one of the reports.
void require_other_file(const std::string& output, const std::vector<std::string>& reports) {
  namespace fs = std::filesystem;
  for (const std::string& each : reports) {
    std::error_code absent;
    for (const fs::path& input : {fs::path(each), fs::path(each) / harness::report_name}) {
      if (!fs::equivalent(output, input, absent) || absent) continue;
      throw harness::BadInput(fmt::format(
          "--output: {}: got a report that is compared, expected another file", output));
    }
  }
}

/// Throws BadInput if speed was to be compared, and no measurement could be.
void require_speeds(const compare::ComparedRuns& runs) {
  const compare::Comparison& comparison = runs.comparison;
  if (!runs.matters.contains(compare::FailOn::speed) || comparison.compared_speeds > 0) return;
  const std::int64_t others = comparison.unknown_speeds + comparison.links_of_other_sizes;
  throw harness::BadInput(fmt::format(
      "--fail-on: {} and {}: no speed was compared, expected measurements in both runs{}",
      harness::printable(runs.before.name),
      harness::printable(runs.now.name),
      others > 0 ? " that can be compared: repeated ones, and links with blocks of "
                   "one size"
                 : ""));
}

int run_compare(const CompareCommandOptions& options, const std::string& program) {
  const std::set<compare::FailOn> matters = compare::fail_on_from(options.fail_on);
  constexpr std::array formats{"text", "markdown", "json", "html"};
  if (std::find(formats.begin(), formats.end(), options.format) == formats.end()) {
    throw harness::BadInput(
        fmt::format("--format: {}: expected text, markdown, json or html", options.format));
  }
  if (options.reports.size() < 2) {
    throw harness::BadInput("REPORT: got one report, expected two or more");
  }
  if (options.strict_known && options.known.empty()) {
    throw harness::BadInput(
        "--strict-known: expected --known FILE, whose entries it holds to account");
  }
  require_factor("--accuracy-factor", options.limits.accuracy_factor);
  require_factor("--duration-factor", options.limits.duration_factor);
  require_factor("--speed-factor", options.limits.speed_factor);
  if (!options.output.empty()) {
    harness::run::require_writable_file(options.output);
    require_other_file(options.output, options.reports);
  }
  std::vector<compare::RunReport> runs =
      compare::read_run_reports(options.reports, options.format == "html");
  const std::vector<harness::KnownDefect> defects = known_defects(options.known);
  for (compare::RunReport& each : runs) compare::mark_known(each, defects);
  // Two runs may be named in either order, for example to compare a branch with what came later.
  if (runs.size() > 2) compare::sort_by_time(runs);
  const compare::RunReport& before = runs[runs.size() - 2];
  const compare::RunReport& now = runs.back();
  const compare::Comparison comparison = compare::compare(before, now, options.limits);
  const compare::Trend trend = compare::trend_of(runs);
  const std::vector<harness::KnownStatus> known = compare::known_statuses(now, defects);
  const compare::ComparedRuns compared{.before = before,
                                       .now = now,
                                       .comparison = comparison,
                                       .matters = matters,
                                       .trend = trend,
                                       .known = known,
                                       .is_strict = options.strict_known};
  if (comparison.common_units == 0 && !is_worse(compared)) {
    throw harness::BadInput(fmt::format(
        "{} and {}: no unit was judged in both runs, so that nothing can be said of changes",
        harness::printable(before.name),
        harness::printable(now.name)));
  }
  if (!is_worse(compared)) require_speeds(compared);
  const harness::TextStyle style =
      options.output.empty() ? harness::TextStyle::for_output(STDOUT_FILENO) : harness::TextStyle();
  const std::string text = compared_text(compared, options.format, program, style);
  if (options.output.empty()) {
    fmt::print("{}", text);
  } else {
    harness::write_file(options.output, text);
  }
  tell_github_of(compared, options);
  return is_worse(compared) ? harness::run::status_failed : harness::run::status_held;
}

}  // namespace

void add_compare(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("compare", "Says what changed between two runs, or over many.");
  const auto options = std::make_shared<CompareCommandOptions>();
  const AddOption add{*command};
  add("reports REPORT",
      options->reports,
      "The reports: their folders or report.json. Two are compared in this order. More are put in "
      "the order of time, and the last two are compared.")
      ->required();
  add("--fail-on NAMES",
      options->fail_on,
      "What makes the exit status 1: some of broken, coverage, accuracy, speed. The default is "
      "broken,coverage.");
  add("--accuracy-factor X",
      options->limits.accuracy_factor,
      "An error/bound that grows by less is no change. The default is 2.");
  add("--duration-factor X",
      options->limits.duration_factor,
      "A duration of a unit that changes by less is no change. The default is 2.");
  add("--speed-factor X",
      options->limits.speed_factor,
      "A measurement of bench that changes by less is no change. The default is 1.1.");
  add("--known FILE",
      options->known,
      "A file of known defects, whose failures do not make the exit status 1. May be repeated.");
  command->add_flag("--strict-known",
                    options->strict_known,
                    "Makes the exit status 1 if an entry of --known explains no failure of the "
                    "later run, or expired.");
  add("--format NAME", options->format, "text, markdown, json or html. The default is text.");
  add("--output FILE", options->output, "The file to write instead of standard output.");
  command->callback(
      [options, &context] { context.exit_status = run_compare(*options, context.program); });
}

}  // namespace rankcheck::cases
