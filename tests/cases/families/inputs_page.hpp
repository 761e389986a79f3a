#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// Reads the tables of the families' pages INPUTS.md, and compares them with the code.
namespace rankcheck::tests {

using Strings = std::vector<std::string>;

/// What a table says about each operation or array, as text.
using Facts = std::map<std::string, std::string>;

/// A table as lists of cells, without its two lines of headings.
using Rows = std::vector<Strings>;

inline Strings split(std::string_view text, std::string_view separator) {
  Strings parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + separator.size());
  }
}

/// Returns the texts between backticks.
inline Strings names_in(std::string_view text) {
  const Strings parts = split(text, "`");
  Strings names;
  for (std::size_t i = 1; i < parts.size(); i += 2) names.push_back(parts[i]);
  return names;
}

inline std::string joined(const Strings& parts) {
  std::string text;
  for (const std::string& each : parts) text += (text.empty() ? "" : ", ") + each;
  return text;
}

/// Returns the first table below a heading. Empty if the page has no such heading or table.
inline Rows table_below(std::string_view page, std::string_view heading) {
  Rows rows;
  bool is_below = false;
  for (const std::string& line : split(page, "\n")) {
    if (line == heading) is_below = true;
    const bool is_row = line.starts_with("| ");
    if (is_below && is_row) {
      Strings cells = split(line, " | ");
      cells.front().erase(0, 2);
      rows.push_back(cells);
    }
    if (is_below && !is_row && !rows.empty()) break;
  }
  rows.erase(rows.begin(), rows.begin() + std::min<std::ptrdiff_t>(2, std::ssize(rows)));
  return rows;
}

inline void add_fact(const std::string& name,
                     const std::string& fact,
                     Facts& facts,
                     Strings& differences) {
  if (!facts.emplace(name, fact).second) differences.push_back(name + " stands in two rows");
}

/// Appends a sentence for each fact that only one side has, or that differs.
inline void compare(const Facts& page, const Facts& code, Strings& differences) {
  for (const auto& [name, fact] : code) {
    const auto found = page.find(name);
    if (found == page.end()) {
      differences.push_back(name + " has no row");
    } else if (found->second != fact) {
      differences.push_back(name + " has " + found->second + " instead of " + fact);
    }
  }
  for (const auto& [name, fact] : page) {
    if (!code.contains(name)) differences.push_back(name + " has a row, but does not exist");
  }
}

}  // namespace rankcheck::tests
