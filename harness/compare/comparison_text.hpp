#pragma once

#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/compare/comparison.hpp"
#include "harness/compare/known_failures.hpp"
#include "harness/compare/trend.hpp"
#include "harness/report/github.hpp"
#include "harness/report/text_style.hpp"

namespace rankcheck::harness::compare {

/// The version of the JSON of a comparison. reports/comparison.schema.json describes it.
inline constexpr int comparison_version = 1;

/// A comparison with what it compares and what matters.
struct ComparedRuns {
  const RunReport& before;
  const RunReport& now;
  const Comparison& comparison;
  const std::set<FailOn>& matters;
  /// All runs in the order of time. The last two of them are `before` and `now`.
  const Trend& trend;
  /// What `now` says about the known defects that the comparison was given.
  std::span<const KnownStatus> known = {};
  /// Whether an entry that is stale makes it worse.
  bool is_strict = false;
};

/// Whether the exit status is 1: something that matters got worse, or an entry is stale.
[[nodiscard]] bool is_worse(const ComparedRuns& runs);

/// The verdict in a sentence: "Worse: 1 unit is newly broken, 2 losses of coverage."
[[nodiscard]] std::string verdict_of(const ComparedRuns& runs);

/// For terminals: the verdict, the runs, and a list for each kind of change. A list has at most 20
/// changes and then says how many more there are. With more than two runs, a table of all runs
/// follows. `program` is the command with which the reader calls rankcheck in a shell. Only its
/// lines are longer than text_columns_max.
[[nodiscard]] std::string to_text(const ComparedRuns& runs,
                                  const std::string& program,
                                  TextStyle style = {});

/// The same as Markdown.
[[nodiscard]] std::string to_markdown(const ComparedRuns& runs);

/// All changes.
[[nodiscard]] nlohmann::ordered_json to_json(const ComparedRuns& runs);

/// One page that shows a comparison to people: a whole document that loads nothing, as `page/`
/// makes it for a run. Equal reports give equal pages.
[[nodiscard]] std::string to_html(const ComparedRuns& runs);

/// The annotations of a comparison that found something worse: one for each unit that is newly
/// broken or flaky, with the line that replays its case. If there is none, one with `verdict`.
[[nodiscard]] std::vector<github::Annotation> annotations_of(const Comparison& comparison,
                                                             const std::string& verdict);

}  // namespace rankcheck::harness::compare
