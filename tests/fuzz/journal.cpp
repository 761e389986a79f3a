#include "harness/report/journal.hpp"

#include "harness/check/finding_json.hpp"

#include "tests/fuzz/targets.hpp"
#include "tests/harness/report/journal_text.hpp"
#include "tests/harness/sample.hpp"

namespace rankcheck::fuzz {

namespace {

/// Findings that are written and read again stay the same.
std::string fault_of_journal(std::string_view input) {
  return fault_of_reading([&]() -> std::string {
    const MemoryFile file(input);
    const harness::Record record = harness::read_journal(file.path()).record;
    for (const harness::Finding& finding : record.report().findings) {
      const std::string text = harness::to_json(finding).dump();
      const auto read = harness::finding_from_json(nlohmann::json::parse(text));
      if (harness::to_json(read).dump() != text) return "reads back as another: " + text;
    }
    return {};
  });
}

/// Returns the journal of a run with a finding of each kind. It has no checksums, so that changes
/// reach the readers of fields.
std::vector<std::string> seeds_of_journals() {
  const harness::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "journal.jsonl";
  {
    harness::JournalHeader header;
    header.run = {{"suites", {"smoke"}}, {"seed", 1}};
    header.directory = "/somewhere";
    header.units = {harness::sample_unit("all_reduce"), harness::sample_unit("broadcast")};
    header.pinned[header.units.front().id()] = *harness::sample_failure().minimal;
    header.environment = {{"rankcheck", "0"}, {"time_budget_s", 10}};
    harness::Journal journal(path, header);
    journal.append({.finding = harness::sample_failure(), .at_s = 0.5});
    journal.append({.finding = harness::sample_finding("broadcast", harness::Verdict::passed),
                    .whole = false});
    journal.end({.ending = "time_over", .rounds = 1, .finished = "then", .duration_s = 1});
  }
  {
    harness::Journal journal(path, harness::read_journal(path), {{"rankcheck", "1"}});
    journal.append({.finding = harness::sample_finding("broadcast", harness::Verdict::passed)});
    journal.end({.ending = "completed", .rounds = 1, .finished = "later", .duration_s = 2});
  }
  return {harness::without_checksums(harness::read_file(path)), harness::read_file(path)};
}

}  // namespace

Target journal_target() {
  return {"journal", fault_of_journal, seeds_of_journals};
}

}  // namespace rankcheck::fuzz
