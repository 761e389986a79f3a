#include "cases/commands/run.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "harness/base/table.hpp"
#include "harness/check/finding_json.hpp"
#include "harness/page/page.hpp"
#include "harness/report/report.hpp"
#include "harness/report/report_text.hpp"
#include "harness/report/summary.hpp"
#include "harness/run/exit_status.hpp"
#include "harness/run/interrupt.hpp"
#include "harness/run/rounds.hpp"
#include "harness/run/session.hpp"

#include "cases/commands/archive.hpp"
#include "cases/commands/github.hpp"
#include "cases/commands/options.hpp"
#include "cases/commands/report.hpp"
#include "cases/hardware/gate_journal.hpp"

namespace rankcheck::cases {

namespace {

using harness::run::RunOptions;
using harness::run::Selection;
using harness::run::Session;

/// Prints a line of text that may be long.
void print_wrapped(const std::string& text) {
  fmt::print("{}\n", harness::wrapped(text, harness::text_columns_max, 2));
}

void announce_left_out(const harness::run::RunPlan& plan) {
  constexpr std::size_t named_max = 3;
  const auto& all = plan.left_out;
  if (all.empty()) return;
  print_wrapped("left out, because no such case exists: " + harness::first_of(all, named_max));
}

void announce(const Session& session) {
  const Selection& selection = session.selection;
  const harness::run::RunPlan& plan = session.plan;
  std::int64_t cases = 0;
  for (const harness::Unit& unit : plan.units) cases += unit.cases;
  // The seed is the first line of every run, so that any log is enough to repeat it.
  fmt::print("seed {}\n", *selection.seed);
  print_wrapped(fmt::format("suite {}: {} on {}, at most {} cases{}",
                            fmt::join(selection.suites, ", "),
                            harness::counted(std::ssize(plan.units), "unit", "units"),
                            fmt::join(backends_of(plan), ", "),
                            harness::grouped(cases),
                            plan.cycles ? " a round" : ""));
  fmt::print("report in {}\n", session.folder.string());
  announce_left_out(plan);
  for (const auto& [backend, reason] : plan.unavailable) {
    print_wrapped(fmt::format("backend {} {}: {}",
                              backend,
                              plan.broken.contains(backend) ? "could not be opened" : "is skipped",
                              harness::printable(reason)));
  }
  std::fflush(stdout);
}

void print_end(const Session& session, const harness::Report& report, const std::string& program) {
  const harness::Summary summary = harness::summarise(report.findings);
  const harness::TextOptions options{
      .program = program,
      .style = harness::TextStyle::for_output(STDOUT_FILENO),
      .width_max = std::min(terminal_width(), harness::text_columns_max),
      .is_part_of_gate = !hardware::gate_of_part(session.folder).empty()};
  const bool is_quiet = session.options.quiet;
  fmt::print("{}{}", is_quiet ? "" : "\n", verdict_and_failures(report, options));
  if (is_quiet) return;
  fmt::print("\n{}\n", table_text(report, options));
  fmt::print("{}, {} compared, {:.1f} s; report: {}\n",
             harness::counted(summary.total.cases, "case", "cases"),
             harness::counted(summary.total.compared_bytes, "byte", "bytes"),
             report.environment.at("duration_s").get<double>(),
             (session.folder / "summary.md").string());
  const std::string hint = how_to_go_on(report, session.folder, program);
  if (!hint.empty()) fmt::print("{}\n", hint);
  print_wrapped(outcome_line(summary.total));
}

/// Declares the options that say which checks are made. Parsing writes to `options`, which must
/// outlive it.
void add_selection_options(CLI::App& command, RunOptions& options) {
  Selection& selection = options.selection;
  command.footer(
      "Options restrict the suites. If no suite is named, they restrict smoke. If smoke\n"
      "has nothing that they select, they restrict all: every check, on sim or on the\n"
      "named backends.\n"
      "\n"
      "LIST has names between commas, of which one has to match; most may be patterns. The\n"
      "option may be repeated: --operation gather,scatter is --operation gather --operation\n"
      "scatter.");
  const AddOption add{command};
  add("suites SUITE", selection.suites, "The names of suites, or the paths of their files.");
  add("--operation LIST", options.operations, "Selects the operations that match.");
  add("--algorithm LIST", options.algorithms, "Selects the algorithms that match.");
  add("--property LIST", options.properties, "Selects the properties that match.");
  add("--backend LIST",
      options.backends,
      "The backends. command:LINE and python:FILE take the rest of their list.");
  add("--ranks A..B", options.ranks, "The least and the greatest number of ranks.");
  add("--hosts HOST,...",
      options.hosts,
      "The host of each rank, for backends that can start ranks on several hosts.");
  add("--type LIST", options.types, "The element types.");
  add("--cases N",
      selection.cases,
      "The number of cases of each unit. With this option, not all cells are required.");
  add("--require GLOB",
      selection.require,
      "Cells that must be covered, as <operation>/<cell>, for example all_reduce/f32/*.");
  add("--require-ranks N",
      selection.ranks_required,
      "The number of members that some case of each unit must have.")
      ->check(CLI::Range(1, 4096));
  add("--unit GLOB",
      selection.units,
      "Selects the units whose ids match. May be repeated. See --list-units.");
  command.add_flag("--list-units",
                   options.list_units,
                   "Prints the selected units as a JSON array, and checks nothing.");
  add("--seed N|commit",
      options.seed,
      "The seed of the cases: a number, or commit for a seed from git's HEAD.");
}

/// Declares the options that say how the checks are made. Parsing writes to `options`, which must
/// outlive it.
void add_running_options(CLI::App& command, RunOptions& options) {
  const AddOption add{command};
  add("--time-budget S",
      options.time_budget_s,
      "The seconds for the whole run in all its sessions. For the gate: the seconds for this "
      "call.");
  add("--timeout S",
      options.timeout_s,
      "The seconds without a message from any worker after which a case counts as hung. A run of "
      "one case also counts as hung after ten times this time.");
  add("--replays N",
      options.replays,
      "How often the smallest case of a failure is run again to confirm it. A failure that comes "
      "back in some replays only is flaky. The default is 5.");
  add("--report DIR", options.report, "The folder for the journal and the reports.");
  command.add_flag(
      "--overwrite", options.overwrite, "Replaces the report that the folder of --report holds.");
  add("--resume DIR", options.resume, "The folder of a run to continue.");
  add("--known FILE",
      options.known,
      "A file of known defects, whose failures do not make the exit status 1. May be repeated.");
  command.add_flag("--strict-known",
                   options.strict_known,
                   "Known defects that pass, that cover no case or that expired make the exit "
                   "status 1.");
  add("--archive FILE.zip", options.archive, "Packs the folder into this file at the end.");
  add("--jobs N",
      options.jobs,
      "The number of units to check at the same time. The default is the number of processors, but "
      "at most 4, and 1 for a program of yours.");
  command.add_flag("--fail-fast", options.fail_fast, "Stops at the first failure.");
  command.add_flag("--quick",
                   options.quick,
                   "For the suite hardware: checks every link and every device once, and nothing "
                   "else.");
  command.add_flag("--quiet", options.quiet, "Prints only the verdict and the failures.");
}

/// Prints the units that a run with these options would check. Returns the exit status.
int list_units(const RunOptions& options,
               const harness::run::ThisProgram& program,
               const harness::run::Interrupt& interrupt) {
  Selection selection = harness::run::parse_selection(options);
  const auto plan = make_plan(selection, program.catalogue, program.backends, interrupt.stop());
  nlohmann::ordered_json units = nlohmann::ordered_json::array();
  for (const harness::Unit& each : plan.units) {
    nlohmann::ordered_json unit = {{"id", each.id()}};
    unit.update(harness::to_json(each));
    units.push_back(std::move(unit));
  }
  fmt::print("{}\n", units.dump(1));
  return harness::run::status_held;
}

void refuse_quick(const RunOptions& options) {
  if (options.quick) throw harness::BadInput("--quick: expected the suite hardware with it");
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
                         const harness::run::ThisProgram& program,
                         const harness::run::Interrupt& interrupt) {
  options.stop.flag = interrupt.stop().flag;
  Session session = open_session(options, program);
  if (!session.options.quiet) announce(session);
  run_rounds(session, program);
  harness::Report report = session.journal.record().report();
  harness::write_report(session.folder, report);
  harness::page::write_page(session.folder, report);
  print_end(session, report, program.command);
  pack(session.folder, options.archive);
  const int status = interrupt.exit_status();
  return {.status = status != 0 ? status : exit_status(report),
          .report = std::move(report),
          .folder = session.folder};
}

void add_run(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("run", "Checks suites, or what the options select.");
  const auto options = std::make_shared<RunOptions>();
  add_selection_options(*command, *options);
  add_running_options(*command, *options);
  set_work(*command, context, "the run began", [options, &context](const auto& interrupt) {
    const std::vector<std::string>& suites = options->selection.suites;
    const bool is_gate = std::find(suites.begin(), suites.end(), "hardware") != suites.end() ||
                         (!options->resume.empty() && hardware::is_gate(options->resume));
    if (!is_gate) refuse_part_of_gate(options->resume);
    if (!is_gate) refuse_quick(*options);
    if (!options->archive.empty()) require_archive(options->archive);
    const harness::run::ThisProgram program = this_program(context.program);
    if (options->list_units) return list_units(*options, program, interrupt);
    if (is_gate) return run_hardware(*options, program, interrupt);
    const RunOutcome outcome = run_selection(*options, program, interrupt);
    tell_github(outcome.report);
    complain_if_unable(outcome.status, outcome.report, outcome.folder, context.program);
    return outcome.status;
  });
}

}  // namespace rankcheck::cases
