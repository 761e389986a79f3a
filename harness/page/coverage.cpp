#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "harness/base/table.hpp"
#include "harness/case/call_class.hpp"
#include "harness/page/limits.hpp"
#include "harness/page/sections.hpp"
#include "harness/page/style.hpp"

namespace rankcheck::harness::page {

namespace {

constexpr std::size_t columns_max = 40;

/// What the cases of a run make of one cell of the heat map.
struct Heat {
  std::int64_t cases = 0;
  bool is_missing = false;
  bool is_refused = false;
  bool is_known = false;
  /// The cases by their number of members. Empty if the report does not say it.
  std::map<int, std::int64_t> members = {};
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

/// The two parts of a cell such as "f32/sum". A class of inputs, such as "input/f32/wide", is a
/// variant, too. Empty if it is a cell of another kind.
struct TypeAndVariant {
  std::string type;
  std::string variant;
};

std::optional<TypeAndVariant> type_and_variant(const std::string& cell) {
  if (is_site(cell)) return std::nullopt;
  constexpr std::string_view input = "input/";
  const std::size_t end = cell.find('/', input.size());
  if (cell.starts_with(input) && end != cell.npos) {
    return TypeAndVariant{cell.substr(input.size(), end - input.size()),
                          "input " + cell.substr(end + 1)};
  }
  const std::size_t slash = cell.find('/');
  if (slash == cell.npos) return TypeAndVariant{cell, "-"};
  return TypeAndVariant{cell.substr(0, slash), cell.substr(slash + 1)};
}

/// "3" with blanks before it, so that numbers sort.
std::string sortable(const std::string& number) {
  return number.size() < 4 ? std::string(4 - number.size(), ' ') + number : number;
}

/// "ranks/3" as a sortable number. Empty for another cell.
std::string ranks_of(const std::string& cell) {
  constexpr std::string_view prefix = "ranks/";
  return cell.starts_with(prefix) ? sortable(cell.substr(prefix.size())) : std::string();
}

/// "1, 3\u20135" for 1, 3, 4 and 5.
std::string ranges_of(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", numbers[i]);
    if (last > i) text += fmt::format("{}{}", last > i + 1 ? "\u2013" : ", ", numbers[last]);
    i = last + 1;
  }
  return text;
}

/// Calls take(cell, heat) for all cells of a finding.
template <class Take>
void for_each_cell(const Finding& finding, const Take& take) {
  for (const auto& [cell, cases] : finding.cells) {
    const auto found = finding.cell_members.find(cell);
    const bool is_told = found != finding.cell_members.end();
    take(cell,
         Heat{.cases = cases,
              .members = is_told ? found->second.cases : std::map<int, std::int64_t>()});
  }
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
  for (const auto& [members, cases] : heat.members) total.members[members] += cases;
}

/// The numbers of ranks of all cells.
std::set<int> ranks_in(const HeatMap& map) {
  std::set<int> out;
  for (const auto& [row, cells] : map.rows) {
    for (const auto& [column, heat] : cells) {
      for (const auto& [members, cases] : heat.members) out.insert(members);
    }
  }
  return out;
}

/// The numbers of ranks with which no case of the cell ran. Empty if the report does not say it.
std::string gaps_of(const Heat& heat, const std::set<int>& ranks) {
  if (heat.members.empty()) return {};
  std::vector<int> gaps;
  for (const int each : ranks) {
    if (!heat.members.contains(each)) gaps.push_back(each);
  }
  return ranges_of(gaps);
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

void write_heat(Html& html, const Heat* heat, std::int64_t most, const std::set<int>& ranks) {
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
  const Html::Element cell = html.open("td", {{"class", fmt::format("number heat-{}", step)}});
  html.text(brief(heat->cases));
  const std::string gaps = gaps_of(*heat, ranks);
  if (!gaps.empty()) html.leaf("div", "not " + gaps, {{"class", "gaps"}});
}

/// Writes a heat map. Each cell names those of `ranks` with which none of its cases ran.
void write_map(Html& html,
               const std::string& caption,
               const char* corner,
               const HeatMap& map,
               const std::set<int>& ranks = {}) {
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
        write_heat(html, found == cells.end() ? nullptr : &found->second, most, ranks);
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

/// Says how many combinations of a cell and a number of ranks have a case.
void write_combinations(Html& html, const std::map<std::string, HeatMap>& operations) {
  std::int64_t all = 0;
  std::int64_t covered = 0;
  bool has_cases = false;
  for (const auto& [operation, map] : operations) {
    const std::int64_t ranks = std::ssize(ranks_in(map));
    for (const auto& [row, cells] : map.rows) {
      for (const auto& [column, heat] : cells) {
        has_cases = has_cases || heat.cases > 0;
        if (heat.members.empty()) continue;
        all += ranks;
        covered += std::ssize(heat.members);
      }
    }
  }
  if (all > 0) {
    html.leaf("p",
              fmt::format("{} of {} combinations of an operation, a type, a reduction or variant, "
                          "and a number of ranks have a case. None of them is required by itself.",
                          grouped(covered),
                          grouped(all)));
  } else if (has_cases) {
    html.leaf("p", "The report does not say with how many ranks the cases of each type ran.");
  }
}

}  // namespace

void write_coverage(Html& html, const Report& report) {
  HeatMap all;
  HeatMap ranks;
  HeatMap types;
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
        for (const auto& [members, cases] : heat.members) {
          add(types.at(parts->type, sortable(std::to_string(members))), Heat{.cases = cases});
        }
      }
    });
  }
  const Html::Element section = html.open("section", {{"aria-labelledby", "coverage"}});
  html.leaf("h2", "Coverage", {{"id", "coverage"}});
  html.leaf(
      "p",
      "Each number counts cases, and a darker cell has more. One case may count for several "
      "properties. A hole is a cell that is required, but that some unit did not cover. \"not "
      "offered\" is a cell that the backend does not take. \"known\" is a cell that only known "
      "failures reached. Where a table has nothing, no operation in it has such a cell.");
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
  write_combinations(html, operations);
  write_map(html, "Cases by type and reduction or variant, all operations", "type", all);
  write_map(html, "Cases by operation and number of ranks", "operation", ranks);
  write_map(html, "Cases by type and number of ranks, all operations", "type", types);
  html.leaf("h3", "Each operation");
  if (!types.rows.empty()) {
    html.leaf("p",
              "\"not 1, 3\" below a number: no case of this cell ran with 1 or 3 ranks, though "
              "other cases of the operation did.",
              {{"class", "faint"}});
  }
  const std::size_t end = html.size() + maps_bytes_max;
  std::size_t left_out = operations.size();
  for (const auto& [operation, map] : operations) {
    if (html.size() > end) break;
    --left_out;
    const std::string name = shortened(operation, name_bytes_max);
    const Html::Element box = html.open("details");
    html.leaf("summary", name);
    write_map(html,
              "Cases of " + name + " by type and variant, with the missing numbers of ranks",
              "type",
              map,
              ranks_in(map));
  }
  if (left_out > 0) html.leaf("p", fmt::format("and {} more, which report.json lists", left_out));
}

}  // namespace rankcheck::harness::page
