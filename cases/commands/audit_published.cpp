#include "cases/commands/audit_published.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reference/spec/to_size.hpp"

#include "harness/run/exit_status.hpp"
#include "harness/table.hpp"

#include "cases/audit/published.hpp"
#include "cases/commands/audit_jobs.hpp"
#include "cases/commands/cli.hpp"

namespace rankcheck::cases {

namespace {

using audit::Bug;
using audit::Hunt;
using audit::Published;
using audit::PublishedState;
using nlohmann::ordered_json;

/// A published defect and, if it was looked for, what was found.
struct ScoreRow {
  const Published* defect = nullptr;
  bool was_looked_for = false;
  Bug bug;
  Hunt hunt;
  /// Why the bug was not caught as required. Empty if it was caught, or not looked for.
  std::string survived;
  /// What this machine lacks to look for the defect. Empty if it lacks nothing.
  std::string lacks;
};

ScoreRow look_for(const harness::Catalogue& catalogue,
                  const Published& defect,
                  const std::vector<Bug>& bugs,
                  const audit::HuntOptions& options,
                  bool huge) {
  ScoreRow row{.defect = &defect, .bug = {}, .hunt = {}, .survived = {}, .lacks = {}};
  const bool is_huge = defect.state == PublishedState::huge;
  row.was_looked_for = defect.state == PublishedState::planted || (is_huge && huge);
  if (!row.was_looked_for) return row;
  row.bug = *std::find_if(
      bugs.begin(), bugs.end(), [&](const Bug& bug) { return bug.name == defect.bug_or_reason; });
  row.hunt = hunt(catalogue, row.bug, row.bug.property, options);
  if (row.hunt.finding.reason == harness::name(harness::SkipReason::no_memory)) {
    row.was_looked_for = false;
    row.lacks = "needs 13 GB of memory";
    return row;
  }
  row.survived = why_not_caught(row.bug, row.hunt);
  return row;
}

std::string_view result_of(const ScoreRow& row) {
  if (!row.survived.empty()) return "survived";
  return row.was_looked_for ? "found" : name(row.defect->state);
}

/// Why nobody looked for the defect.
std::string reason_of(const ScoreRow& row) {
  if (!row.lacks.empty()) return row.lacks;
  if (row.defect->state == PublishedState::huge) return "--huge looks for it";
  return std::string(row.defect->bug_or_reason);
}

/// How many rows have each state.
struct Score {
  std::int64_t found = 0;
  /// Defects that rankcheck should find: all but those of hardware, of other operations, and those
  /// that a contract leaves open.
  std::int64_t expected = 0;
};

Score score_of(const std::vector<ScoreRow>& rows) {
  Score score;
  for (const ScoreRow& row : rows) {
    const PublishedState state = row.defect->state;
    score.expected += state == PublishedState::planted || state == PublishedState::huge ||
                      state == PublishedState::not_drawn;
    score.found += row.was_looked_for && row.survived.empty();
  }
  return score;
}

void print_table(const std::vector<ScoreRow>& rows, const audit::HuntOptions& options) {
  harness::Table table({{"", harness::Align::right},
                        {"defect"},
                        {"source"},
                        {"result"},
                        {"by, or why not"},
                        {"cases", harness::Align::right},
                        {"ranks", harness::Align::right},
                        {"elements", harness::Align::right}});
  for (const ScoreRow& row : rows) {
    const harness::Finding& finding = row.hunt.finding;
    table.add({std::to_string(row.defect->number),
               std::string(row.defect->defect),
               std::string(row.defect->source),
               std::string(result_of(row)),
               row.was_looked_for ? fmt::format("{}: {}", row.bug.operation, row.bug.property)
                                  : reason_of(row),
               row.was_looked_for ? std::to_string(finding.cases) : "-",
               finding.minimal ? std::to_string(group_size(*finding.minimal)) : "-",
               finding.minimal ? std::to_string(audit::elements_of(*finding.minimal)) : "-"});
  }
  fmt::print("seed {}\n\n{}\n", options.seed, table.text(terminal_width()));
  for (const ScoreRow& row : rows) {
    if (row.survived.empty()) continue;
    fmt::print("survived: {}: {}\n", row.bug.name, harness::printable(row.survived));
  }
  const Score score = score_of(rows);
  fmt::print(
      "{} of {} published defects found; {} more need hardware, another operation, or are "
      "undefined\n",
      score.found,
      score.expected,
      static_cast<std::int64_t>(rows.size()) - score.expected);
}

ordered_json to_json(const ScoreRow& row) {
  ordered_json out{{"number", row.defect->number},
                   {"defect", row.defect->defect},
                   {"source", row.defect->source},
                   {"condition", row.defect->condition},
                   {"result", result_of(row)}};
  if (!row.was_looked_for) {
    out["reason"] = reason_of(row);
    return out;
  }
  const harness::Finding& finding = row.hunt.finding;
  out["bug"] = row.bug.name;
  out["operation"] = row.bug.operation;
  out["backend"] = "sim";
  out["property"] = row.bug.property;
  out["verdict"] = name(finding.verdict);
  out["cases"] = finding.cases;
  if (!row.survived.empty()) out["survived"] = row.survived;
  if (finding.minimal) out["minimal"] = harness::to_json(*finding.minimal);
  return out;
}

void print_json(const std::vector<ScoreRow>& rows, const audit::HuntOptions& options) {
  const Score score = score_of(rows);
  ordered_json out{{"seed", options.seed},
                   {"cases", options.cases},
                   {"found", score.found},
                   {"expected", score.expected},
                   {"published", ordered_json::array()}};
  for (const ScoreRow& row : rows) out["published"].push_back(to_json(row));
  fmt::print("{}\n", out.dump(1));
}

}  // namespace

int audit_published(const harness::Catalogue& catalogue,
                    const audit::HuntOptions& options,
                    bool huge,
                    int jobs,
                    bool as_json) {
  std::vector<Bug> bugs = audit::catalogue();
  const std::vector<Bug> huge_bugs = audit::huge_bugs();
  bugs.insert(bugs.end(), huge_bugs.begin(), huge_bugs.end());
  const auto all = audit::published();
  std::vector<ScoreRow> rows(all.size());
  for_each_index(rows.size(), jobs, [&](std::size_t i) {
    rows[i] = look_for(catalogue, all[i], bugs, options, false);
  });
  // The memory is enough for one huge bug at a time.
  for (ScoreRow& row : rows) {
    if (huge && row.defect->state == PublishedState::huge)
      row = look_for(catalogue, *row.defect, bugs, options, true);
  }
  if (as_json) {
    print_json(rows, options);
  } else {
    print_table(rows, options);
  }
  const bool all_found = std::all_of(
      rows.begin(), rows.end(), [](const ScoreRow& row) { return row.survived.empty(); });
  if (!all_found) return harness::run::status_failed;
  const bool lacks =
      std::any_of(rows.begin(), rows.end(), [](const ScoreRow& row) { return !row.lacks.empty(); });
  return lacks ? harness::run::status_unable : harness::run::status_held;
}

}  // namespace rankcheck::cases
