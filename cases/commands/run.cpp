#include "cases/commands/run.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/report.hpp"
#include "harness/run/interrupt.hpp"
#include "harness/summary.hpp"
#include "harness/table.hpp"

#include "cases/catalogue.hpp"
#include "cases/commands/archive.hpp"
#include "cases/commands/cli.hpp"
#include "cases/commands/report.hpp"
#include "cases/commands/rounds.hpp"
#include "cases/commands/run_options.hpp"
#include "cases/commands/session.hpp"
#include "cases/hardware/gate_journal.hpp"

namespace rankcheck::cases {

namespace {

void announce_left_out(const Plan& plan) {
  constexpr std::size_t named_max = 3;
  const auto& all = plan.left_out;
  if (all.empty()) return;
  fmt::print("left out, because no such case exists: {}\n", harness::first_of(all, named_max));
}

void announce(const Session& session) {
  const Selection& selection = session.selection;
  const Plan& plan = session.plan;
  std::int64_t cases = 0;
  for (const harness::Unit& unit : plan.units) cases += unit.cases;
  // The seed is the first line of every run, so that any log is enough to repeat it.
  fmt::print("seed {}\n", *selection.seed);
  fmt::print("suite {}: {} units on {}, at most {} cases{}, report in {}\n",
             fmt::join(selection.suites, ", "),
             plan.units.size(),
             fmt::join(backends_of(plan), ", "),
             harness::grouped(cases),
             plan.cycles ? " a round" : "",
             session.folder.string());
  announce_left_out(plan);
  for (const auto& [backend, reason] : plan.unavailable) {
    fmt::print("backend {} {}: {}\n",
               backend,
               plan.broken.contains(backend) ? "could not be opened" : "is skipped",
               harness::printable(reason));
  }
  std::fflush(stdout);
}

void print_end(const Session& session, const harness::Report& report, const std::string& program) {
  const harness::Summary summary = harness::summarise(report.findings);
  const bool is_part = !hardware::gate_of_part(session.folder).empty();
  for (const harness::Finding& finding : report.findings) {
    // Single rounds do not report a lack of coverage, so it is reported here. It does not matter in
    // a gate's soak.
    if (!session.plan.cycles || !lacks_coverage(finding) || is_part) continue;
    fmt::print("{:<9} {}  {}\n", name(finding.verdict), finding.unit.id(), finding.reason);
  }
  fmt::print("\n{}\n", to_table(summary).text());
  fmt::print("{} cases, {} bytes compared, {:.1f} s; report: {}\n",
             harness::grouped(summary.total.cases),
             harness::grouped(summary.total.compared_bytes),
             report.environment.at("duration_s").get<double>(),
             (session.folder / "summary.md").string());
  const std::string hint = how_to_go_on(report, session.folder, program);
  if (!hint.empty()) fmt::print("{}\n", hint);
  fmt::print("{}\n", outcome_line(summary.total));
}

/// Throws BadInput if the folder is a part of a gate. Only the gate knows the settings for its
/// parts.
void refuse_part_of_gate(const std::string& resumed) {
  if (resumed.empty()) return;
  const std::filesystem::path gate = hardware::gate_of_part(resumed);
  if (gate.empty()) return;
  throw harness::BadInput(fmt::format("--resume: {}: is a part of a gate: expected --resume {}",
                                      resumed,
                                      harness::shell_quoted(gate.string())));
}

}  // namespace

RunOutcome run_selection(RunOptions options,
                         const std::string& program,
                         const harness::run::Interrupt& interrupt) {
  options.stop.flag = interrupt.stop().flag;
  const harness::Catalogue catalogue = make_catalogue();
  Session session = open_session(options, catalogue);
  announce(session);
  run_rounds(session, catalogue, program);
  harness::Report report = session.journal.record().report();
  harness::write_report(session.folder, report);
  print_end(session, report, program);
  pack(session.folder, options.archive);
  const int status = interrupt.exit_status();
  return {.status = status != 0 ? status : exit_status(report),
          .report = std::move(report),
          .folder = session.folder};
}

void add_run(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("run", "Checks suites, or what the options select.");
  const auto options = std::make_shared<RunOptions>();
  add_options(*command, *options);
  command->callback([options, &context] {
    const std::vector<std::string>& suites = options->selection.suites;
    const bool is_gate = std::find(suites.begin(), suites.end(), "hardware") != suites.end() ||
                         (!options->resume.empty() && hardware::is_gate(options->resume));
    if (!is_gate) refuse_part_of_gate(options->resume);
    const harness::run::Interrupt interrupt;
    context.exit_status = interrupt.status_of("the run began", [&] {
      if (is_gate) return run_hardware(*options, context.program, interrupt);
      const RunOutcome outcome = run_selection(*options, context.program, interrupt);
      complain_if_unable(outcome.status, outcome.report, outcome.folder, context.program);
      return outcome.status;
    });
  });
}

}  // namespace rankcheck::cases
