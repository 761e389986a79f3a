#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "harness/compare/trend.hpp"

namespace rankcheck::harness::compare {

/// For terminals: a table with a line for each operation and backend that some run judged or
/// measured. Each cell has a sign for each run. If there are too many runs for 100 columns, only
/// the latest are shown.
[[nodiscard]] std::string to_text(const Trend& trend);

/// The same as Markdown, with all runs.
[[nodiscard]] std::string to_markdown(const Trend& trend);

/// All rows, with a list for each quantity. A run that lacks the quantity has null there.
[[nodiscard]] nlohmann::ordered_json to_json(const Trend& trend);

}  // namespace rankcheck::harness::compare
