#include "cases/commands/audit_published.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "harness/base/table.hpp"
#include "harness/run/exit_status.hpp"

#include "cases/audit/published.hpp"
#include "cases/audit/stand_in.hpp"
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
  std::string_view bug;
  std::string_view operation;
  std::string_view property;
  std::string_view backend = "sim";
  /// The suite with the entry that finds the defect, or `restricted`.
  std::string_view suite = restricted;
  harness::Finding finding = {};
  /// How long the search took.
  double seconds = 0;
  /// Why the bug was not caught as required. Empty if it was caught, or not looked for.
  std::string survived = {};
  /// What this machine lacks to look for the defect. Empty if it lacks nothing.
  std::string lacks = {};

  /// A run of one operation, algorithm, backend and property.
  static constexpr std::string_view restricted = "restricted run";
};

ScoreRow look_for(const harness::Catalogue& catalogue,
                  const Published& defect,
                  const std::vector<Bug>& bugs,
                  const audit::HuntOptions& options) {
  const bool is_huge = defect.state == PublishedState::huge;
  const Bug& bug = *std::find_if(
      bugs.begin(), bugs.end(), [&](const Bug& each) { return each.name == defect.bug_or_reason; });
  ScoreRow row{.defect = &defect,
               .was_looked_for = true,
               .bug = bug.name,
               .operation = bug.target.operation,
               .property = bug.found_by.property};
  // Entries of these suites have the counts that are too large to be drawn.
  if (bug.count > 0) row.suite = is_huge ? "huge" : "ci";
  const Hunt hunt = audit::hunt(catalogue, bug, bug.found_by.property, options);
  row.finding = hunt.finding;
  if (row.finding.reason == harness::name(harness::SkipReason::no_memory)) {
    row.was_looked_for = false;
    row.lacks = "needs 17 GB of memory";
    return row;
  }
  row.survived = why_not_caught(bug, hunt);
  return row;
}

ScoreRow look_for_in_stand_in(const harness::Catalogue& catalogue,
                              const Published& defect,
                              const audit::HuntOptions& options) {
  const auto faults = audit::stand_in_faults();
  const audit::StandInFault& fault =
      *std::find_if(faults.begin(), faults.end(), [&](const auto& each) {
        return each.name == defect.bug_or_reason;
      });
  ScoreRow row{.defect = &defect,
               .bug = fault.name,
               .operation = fault.operation,
               .property = audit::StandInFault::property,
               .backend = "nccl",
               .lacks = audit::why_no_stand_in()};
  if (!row.lacks.empty()) return row;
  row.was_looked_for = true;
  row.finding = hunt_in_stand_in(catalogue, fault, options);
  row.survived = audit::why_not_caught_in_stand_in(row.finding);
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

/// Returns the row, with the time that `search` took.
template <class Search>
ScoreRow timed(Search search) {
  const auto begin = std::chrono::steady_clock::now();
  ScoreRow row = search();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  row.seconds = taken.count();
  return row;
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
                      state == PublishedState::stand_in;
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
                        {"suite"},
                        {"cases", harness::Align::right},
                        {"seconds", harness::Align::right},
                        {"ranks", harness::Align::right},
                        {"elements", harness::Align::right}});
  for (const ScoreRow& row : rows) {
    const harness::Finding& finding = row.finding;
    table.add({std::to_string(row.defect->number),
               std::string(row.defect->defect),
               std::string(row.defect->source),
               std::string(result_of(row)),
               row.was_looked_for
                   ? fmt::format("{} on {}: {}", row.operation, row.backend, row.property)
                   : reason_of(row),
               row.was_looked_for ? std::string(row.suite) : "-",
               row.was_looked_for ? std::to_string(finding.cases) : "-",
               row.was_looked_for ? fmt::format("{:.1f}", row.seconds) : "-",
               finding.minimal ? std::to_string(group_size(*finding.minimal)) : "-",
               finding.minimal ? std::to_string(audit::elements_of(*finding.minimal)) : "-"});
  }
  fmt::print("seed {}\n\n{}\n", options.seed, table.text(terminal_width()));
  fmt::print("the shrunk cases:\n");
  for (const ScoreRow& row : rows) {
    if (!row.finding.minimal) continue;
    fmt::print("{:2}  {}\n", row.defect->number, harness::to_json(*row.finding.minimal).dump());
  }
  fmt::print("\n");
  for (const ScoreRow& row : rows) {
    if (row.survived.empty()) continue;
    fmt::print("survived: {}: {}\n", row.bug, harness::printable(row.survived));
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
  const harness::Finding& finding = row.finding;
  out["bug"] = row.bug;
  out["operation"] = row.operation;
  out["backend"] = row.backend;
  out["property"] = row.property;
  out["suite"] = row.suite;
  out["verdict"] = name(finding.verdict);
  out["cases"] = finding.cases;
  out["seconds"] = row.seconds;
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
    rows[i].defect = &all[i];
    if (all[i].state == PublishedState::planted)
      rows[i] = timed([&] { return look_for(catalogue, all[i], bugs, options); });
  });
  for (ScoreRow& row : rows) {
    const PublishedState state = row.defect->state;
    if (state == PublishedState::stand_in)
      row = timed([&] { return look_for_in_stand_in(catalogue, *row.defect, options); });
    // The memory is enough for one huge bug at a time.
    if (huge && state == PublishedState::huge)
      row = timed([&] { return look_for(catalogue, *row.defect, bugs, options); });
  }
  if (as_json) {
    print_json(rows, options);
  } else {
    print_table(rows, options);
  }
  const bool all_found = std::all_of(
      rows.begin(), rows.end(), [](const ScoreRow& row) { return row.survived.empty(); });
  if (!all_found) return harness::run::status_failed;
  // The memory was asked for. The stand-in is there only if the tests were built.
  const bool lacks = std::any_of(rows.begin(), rows.end(), [](const ScoreRow& row) {
    return row.defect->state == PublishedState::huge && !row.lacks.empty();
  });
  return lacks ? harness::run::status_unable : harness::run::status_held;
}

void for_each_index(std::size_t count, int jobs, const std::function<void(std::size_t)>& work) {
  const bool shows_progress = isatty(STDERR_FILENO) != 0;
  std::atomic<std::size_t> next = 0;
  std::atomic<std::size_t> done = 0;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      work(i);
      if (shows_progress) fmt::print(stderr, "\r\033[K{} of {}", ++done, count);
    }
  };
  std::vector<std::jthread> threads;
  for (int job = 1; job < jobs; ++job) threads.emplace_back(run);
  run();
  threads.clear();
  if (shows_progress) fmt::print(stderr, "\r\033[K");
}

}  // namespace rankcheck::cases
