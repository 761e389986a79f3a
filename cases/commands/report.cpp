#include "cases/commands/report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "harness/base/table.hpp"
#include "harness/page/page.hpp"
#include "harness/report/github.hpp"
#include "harness/report/journal.hpp"
#include "harness/run/exit_status.hpp"
#include "harness/run/session.hpp"
#include "harness/search/runner.hpp"

#include "cases/commands/archive.hpp"
#include "cases/commands/options.hpp"
#include "cases/hardware/gate_journal.hpp"

namespace rankcheck::cases {

namespace {

/// What is printed of a report.
enum class ReportFormat : std::uint8_t { markdown, html, github };

constexpr std::array format_names{"markdown", "html", "github"};

ReportFormat format_named(const std::string& wanted) {
  const auto found = std::find(format_names.begin(), format_names.end(), wanted);
  if (found == format_names.end()) {
    throw harness::BadInput(
        fmt::format("--format: {}: expected html, markdown or github", harness::printable(wanted)));
  }
  return static_cast<ReportFormat>(found - format_names.begin());
}

/// Prints a report, with its page of Markdown and what a summary says beside it.
void print(const harness::Report& report,
           ReportFormat format,
           const std::string& markdown,
           const harness::SummaryNotes& notes = {}) {
  if (format == ReportFormat::markdown) fmt::print("{}", markdown);
  if (format == ReportFormat::html) fmt::print("{}", harness::page::to_html(report));
  if (format == ReportFormat::github) {
    fmt::print("{}", harness::github::to_step_summary(to_markdown(report, notes)));
  }
}

/// Renders the reports of the run in the folder again, prints one of them and returns the report.
harness::Report rendered(const std::filesystem::path& folder, ReportFormat format) {
  if (hardware::is_gate(folder)) {
    hardware::GateReport gate = hardware::report_of(folder);
    hardware::write_reports(folder, gate);
    print(gate.report, format, hardware::to_markdown(gate), hardware::notes_of(gate));
    return std::move(gate.report);
  }
  harness::Report report =
      harness::read_journal(folder / harness::run::journal_name).record.report();
  harness::write_report(folder, report);
  harness::page::write_page(folder, report);
  print(report, format, to_markdown(report));
  return report;
}

/// Prints one line to stderr.
void complain(const std::filesystem::path& folder, std::string_view what) {
  std::fflush(stdout);
  fmt::print(stderr, "rankcheck: {}: {}\n", harness::printable(folder.string()), what);
}

int render(const std::filesystem::path& folder, ReportFormat format, const std::string& program) {
  const harness::Report report = rendered(folder, format);
  const int status = exit_status(report);
  const std::string hint = how_to_go_on(report, folder, program);
  if (status != harness::run::status_unable && !hint.empty()) complain(folder, hint);
  complain_if_unable(status, report, folder, program);
  return status;
}

/// Returns a number of the environment, or 0 if it is not a number. A journal may hold anything
/// there.
double number_in(const harness::Report& report, std::string_view name) {
  const auto found = report.environment.find(name);
  return found != report.environment.end() && found->is_number() ? found->get<double>() : 0;
}

/// Returns the option with which a run continues after its time is over. A gate's budget is for one
/// call, so the same one is proposed. Any other run has spent its budget, so twice as much is
/// proposed. Empty if there is no time to start from.
std::string further_time(const harness::Report& report) {
  double time_s = number_in(report, "time_budget_s");
  if (!report.environment.contains("hardware")) {
    time_s = std::ceil(2 * std::max(time_s, number_in(report, "duration_s")));
  }
  return time_s > 0 ? fmt::format(" --time-budget {}", time_s) : "";
}

/// Returns the option that keeps a gate's number of jobs. Any other run chooses it by itself.
std::string same_jobs(const harness::Report& report) {
  const double jobs = number_in(report, "jobs");
  return report.environment.contains("hardware") && jobs > 1 ? fmt::format(" --jobs {}", jobs) : "";
}

}  // namespace

std::string how_to_go_on(const harness::Report& report,
                         const std::filesystem::path& folder,
                         const std::string& program) {
  if (report.ending == name(harness::Ending::completed)) return {};
  // A part of a gate is resumed through the gate, which prints its own hint.
  if (!hardware::gate_of_part(folder).empty()) return {};
  const std::string left =
      report.not_run > 0
          ? ", " + harness::counted(report.not_run, "unit was not run", "units were not run")
          : "";
  const bool needs_time = report.ending == name(harness::Ending::time_over);
  return fmt::format("ended early ({}){}; to continue: {} run --resume {}{}{}",
                     harness::shortened(report.ending, 40),
                     left,
                     program,
                     harness::printable(harness::shell_quoted(folder.string())),
                     same_jobs(report),
                     needs_time ? further_time(report) : "");
}

void complain_if_unable(int status,
                        const harness::Report& report,
                        const std::filesystem::path& folder,
                        const std::string& program) {
  if (status != harness::run::status_unable) return;
  const std::string hint = how_to_go_on(report, folder, program);
  if (!hint.empty()) return complain(folder, hint);
  const auto& all = report.findings;
  const auto first = std::find_if(all.begin(), all.end(), [](const harness::Finding& each) {
    return each.verdict == harness::Verdict::errored;
  });
  if (first == all.end()) return complain(folder, "not everything was checked: see summary.md");
  constexpr std::size_t bytes_max = 200;
  complain(
      folder,
      harness::shortened(
          fmt::format("could not be checked: {}: {}", first->unit.id(), first->reason), bytes_max));
}

void add_report(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("report", "Writes the reports of a run again from its journal.");
  const auto folder = std::make_shared<std::string>();
  const auto archive = std::make_shared<std::string>();
  const auto format = std::make_shared<std::string>("markdown");
  const AddOption add{*command};
  add("folder DIR", *folder, "The folder of the run.")->required();
  add("--archive FILE.zip", *archive, "Packs the folder into this file.");
  add("--format NAME",
      *format,
      "What is printed: markdown (summary.md, the default), html (report.html), or github, a "
      "summary of at most 60 lines.");
  command->callback([folder, archive, format, &context] {
    const ReportFormat wanted = format_named(*format);
    if (!archive->empty()) require_archive(*archive);
    context.exit_status = render(*folder, wanted, context.program);
    pack(*folder, *archive);
  });
}

}  // namespace rankcheck::cases
