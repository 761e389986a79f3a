#include "harness/report.hpp"

#include <cstdio>
#include <map>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "harness/journal.hpp"
#include "harness/suite_file.hpp"

#include "cases/commands/command.hpp"

namespace rankcheck::cases {

namespace {

/// The report of a journal, whether its run was completed or killed.
harness::Report report_of(harness::JournalContent content) {
  std::map<std::string, harness::Finding> totals;
  for (harness::JournalEntry& entry : content.entries) {
    const std::string id = entry.finding.unit.id();
    const auto found = totals.find(id);
    if (found == totals.end()) {
      totals.emplace(id, std::move(entry.finding));
    } else {
      merge(found->second, entry.finding);
    }
  }
  harness::Report report;
  report.run = std::move(content.header.run);
  report.environment = std::move(content.header.environment);
  for (auto& [id, finding] : totals) report.findings.push_back(std::move(finding));
  harness::sort_findings(report.findings);
  report.not_run = content.header.units - std::ssize(report.findings);
  if (report.not_run > 0) report.ending = "killed";
  return report;
}

int render(const std::filesystem::path& folder) {
  const harness::Report report = report_of(harness::read_journal(folder / journal_name));
  harness::write_report(folder, report);
  fmt::print("{}", to_markdown(report));
  if (report.not_run > 0) {
    std::fflush(stdout);
    fmt::print(stderr,
               "rankcheck: {}: {} units were not run; to go on: rankcheck run --resume {}\n",
               harness::printable(folder.string()),
               report.not_run,
               harness::printable(harness::shell_quoted(folder.string())));
  }
  return exit_status(report);
}

}  // namespace

void add_report(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("report", "Renders the reports of a run again, from its journal");
  const auto folder = std::make_shared<std::string>();
  command->add_option("folder", *folder, "Folder of the run")->required()->type_name("DIR");
  command->callback([folder, &context] { context.exit_status = render(*folder); });
}

}  // namespace rankcheck::cases
