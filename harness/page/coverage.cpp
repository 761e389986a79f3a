#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "harness/page/limits.hpp"
#include "harness/page/sections.hpp"
#include "harness/page/style.hpp"
#include "harness/site_class.hpp"
#include "harness/table.hpp"

namespace rankcheck::harness::page {

namespace {

constexpr std::size_t columns_max = 40;

/// What the cases of a run make of one cell of the heat map.
struct Heat {
  std::int64_t cases = 0;
  bool is_missing = false;
  bool is_refused = false;
  bool is_known = false;
};

/// A heat map: rows and columns in the order of their names.
struct HeatMap {
  std::map<std::string, std::map<std::string, Heat>> rows;
  std::set<std::string> columns;

  Heat& at(const std::string& row, const std::string& column) {
    columns.insert(column);
    return rows[row][column];
  }
};

/// The two parts of a cell such as "f32/sum". Empty if it is a cell of another kind.
struct TypeAndVariant {
  std::string type;
  std::string variant;
};

std::optional<TypeAndVariant> type_and_variant(const std::string& cell) {
  if (is_site(cell)) return std::nullopt;
  const std::size_t slash = cell.find('/');
  if (slash == cell.npos) return TypeAndVariant{cell, "-"};
  return TypeAndVariant{cell.substr(0, slash), cell.substr(slash + 1)};
}

/// "ranks/3" as "03", so that numbers sort. Empty for another cell.
std::string ranks_of(const std::string& cell) {
  constexpr std::string_view prefix = "ranks/";
  if (!cell.starts_with(prefix)) return {};
  const std::string number = cell.substr(prefix.size());
  return number.size() < 4 ? std::string(4 - number.size(), ' ') + number : number;
}

/// Calls take(cell, heat) for all cells of a finding.
template <class Take>
void for_each_cell(const Finding& finding, const Take& take) {
  for (const auto& [cell, cases] : finding.cells) take(cell, Heat{.cases = cases});
  // A unit that failed or was skipped ended early. What it did not cover is no hole of the checks.
  const bool is_whole = finding.verdict == Verdict::passed || lacks_coverage(finding);
  for (const std::string& cell : finding.missing_cells) {
    if (is_whole) take(cell, Heat{.is_missing = true});
  }
  for (const std::string& cell : finding.refused_cells) take(cell, Heat{.is_refused = true});
  for (const std::string& cell : finding.known_cells) take(cell, Heat{.is_known = true});
}

void add(Heat& total, const Heat& heat) {
  total.cases += heat.cases;
  total.is_missing = total.is_missing || heat.is_missing;
  total.is_refused = total.is_refused || heat.is_refused;
  total.is_known = total.is_known || heat.is_known;
}

/// 1234 -> "1.2k".
std::string brief(std::int64_t number) {
  if (number < 1000) return std::to_string(number);
  if (number < 1000000) return fmt::format("{:.1f}k", static_cast<double>(number) / 1e3);
  return fmt::format("{:.1f}M", static_cast<double>(number) / 1e6);
}

std::int64_t most_cases(const HeatMap& map) {
  std::int64_t most = 0;
  for (const auto& [row, cells] : map.rows) {
    for (const auto& [column, heat] : cells) most = std::max(most, heat.cases);
  }
  return most;
}

void write_heat(Html& html, const Heat* heat, std::int64_t most) {
  if (heat == nullptr) return html.leaf("td", "");
  if (heat->is_missing) {
    const std::string text =
        heat->cases > 0 ? fmt::format("hole, {}", brief(heat->cases)) : std::string("hole");
    return html.leaf("td", text, {{"class", "number hole"}});
  }
  if (heat->is_known && heat->cases == 0) return html.leaf("td", "known", {{"class", "doubt"}});
  if (heat->cases == 0) return html.leaf("td", "not offered", {{"class", "heat-0"}});
  // The logarithm tells cells with few cases from those with none.
  const double share = std::log1p(static_cast<double>(heat->cases)) /
                       std::log1p(static_cast<double>(std::max<std::int64_t>(most, 1)));
  const int step = std::clamp(static_cast<int>(std::ceil(4 * share)), 1, 4);
  html.leaf("td", brief(heat->cases), {{"class", fmt::format("number heat-{}", step)}});
}

void write_map(Html& html, const std::string& caption, const char* corner, const HeatMap& map) {
  if (map.rows.empty()) return;
  std::vector<std::string> columns(map.columns.begin(), map.columns.end());
  if (columns.size() > columns_max) columns.resize(columns_max);
  const std::int64_t most = most_cases(map);
  write_table(html, caption, [&] {
    std::vector<std::string> head{corner};
    head.insert(head.end(), columns.begin(), columns.end());
    write_head(html, head);
    const Html::Element body = html.open("tbody");
    std::size_t rows = 0;
    for (const auto& [name, cells] : map.rows) {
      if (++rows > rows_max) break;
      const Html::Element row = html.open("tr");
      html.leaf("th", shortened(name, name_bytes_max), {{"scope", "row"}});
      for (const std::string& column : columns) {
        const auto found = cells.find(column);
        write_heat(html, found == cells.end() ? nullptr : &found->second, most);
      }
    }
  });
  if (map.rows.size() > rows_max) {
    html.leaf("p", fmt::format("and {} more rows", map.rows.size() - rows_max));
  }
  if (map.columns.size() > columns_max) {
    html.leaf("p", fmt::format("and {} more columns", map.columns.size() - columns_max));
  }
}

}  // namespace

void write_coverage(Html& html, const Report& report) {
  HeatMap all;
  HeatMap ranks;
  std::map<std::string, HeatMap> operations;
  std::set<std::string> holes;
  for (const Finding& finding : report.findings) {
    const std::string& operation = finding.unit.operation;
    for_each_cell(finding, [&](const std::string& cell, const Heat& heat) {
      if (heat.is_missing) holes.insert(operation + '/' + cell);
      if (const std::string number = ranks_of(cell); !number.empty()) {
        add(ranks.at(operation, number), heat);
      } else if (const auto parts = type_and_variant(cell)) {
        add(all.at(parts->type, parts->variant), heat);
        add(operations[operation].at(parts->type, parts->variant), heat);
      }
    });
  }
  const Html::Element section = html.open("section", {{"aria-labelledby", "coverage"}});
  html.leaf("h2", "Coverage", {{"id", "coverage"}});
  html.leaf(
      "p",
      "Each number counts cases; one case may count for several properties. A hole is a cell that "
      "was required and that no case of some unit covered. \"not offered\" is a cell that the "
      "backend does not take. \"known\" is a cell that only known failures reached. An empty cell "
      "is "
      "no cell of the operation.");
  if (holes.empty()) {
    html.leaf("p", "There are no holes.");
  } else {
    constexpr std::size_t named_max = 20;
    html.leaf(
        "p",
        fmt::format("{}: {}.",
                    counted(std::ssize(holes), "hole", "holes"),
                    first_of(std::vector<std::string>(holes.begin(), holes.end()), named_max)),
        {{"class", "bad"}});
  }
  write_map(html, "Cases by type and reduction or variant, all operations", "type", all);
  write_map(html, "Cases by operation and number of ranks", "operation", ranks);
  html.leaf("h3", "Each operation");
  const std::size_t end = html.size() + maps_bytes_max;
  std::size_t left_out = operations.size();
  for (const auto& [operation, map] : operations) {
    if (html.size() > end) break;
    --left_out;
    const std::string name = shortened(operation, name_bytes_max);
    const Html::Element box = html.open("details");
    html.leaf("summary", name);
    write_map(html, "Cases of " + name + " by type and variant", "type", map);
  }
  if (left_out > 0) html.leaf("p", fmt::format("and {} more, which report.json lists", left_out));
}

}  // namespace rankcheck::harness::page
