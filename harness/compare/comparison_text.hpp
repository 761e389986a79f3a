#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "harness/compare/comparison.hpp"

namespace rankcheck::harness::compare {

/// The version of the JSON of a comparison. reports/comparison.schema.json describes it.
inline constexpr int comparison_version = 1;

/// A comparison with what it compares and what matters.
struct ComparedRuns {
  const RunReport& before;
  const RunReport& now;
  const Comparison& comparison;
  const std::set<FailOn>& matters;
};

/// For terminals: the verdict, the two runs, and a list for each kind of change. A list has at most
/// 20 changes and then says how many more there are. `program` is the command with which the reader
/// calls rankcheck in a shell.
[[nodiscard]] std::string to_text(const ComparedRuns& runs, const std::string& program);

/// The same as Markdown.
[[nodiscard]] std::string to_markdown(const ComparedRuns& runs);

/// All changes.
[[nodiscard]] nlohmann::ordered_json to_json(const ComparedRuns& runs);

}  // namespace rankcheck::harness::compare
