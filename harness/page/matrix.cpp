#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "harness/base/table.hpp"
#include "harness/page/limits.hpp"
#include "harness/page/sections.hpp"
#include "harness/page/style.hpp"

namespace rankcheck::harness::page {

namespace {

/// At most this many columns of the matrix, so that a page of any run stays readable.
constexpr std::size_t backends_max = 30;

using Pair = std::pair<std::string, std::string>;

struct PairOfRun {
  /// The id of its table in the page.
  std::string id;
  Tally tally;
  std::vector<const Finding*> findings;
};

/// Writes a verdict with its worst error/bound.
void write_verdict(Html& html, const Tally& tally) {
  const Look look = look_of(tally);
  html.leaf("span", look.text, {{"class", "badge " + look.css}});
  // Wrong elements without a number, such as those of a copy, have no error.
  const bool has_errors = tally.ratio_max > 0 || look.css == "good";
  if (tally.compared_bytes == 0 || !has_errors) return;
  html.text(" ");
  html.leaf("span", error_of(tally), {{"class", "faint"}});
}

/// Writes the algorithms and properties of an operation on a backend.
void write_pair(Html& html, const Pair& pair, const PairOfRun& of_pair) {
  std::set<std::string> algorithms;
  std::map<std::string, std::map<std::string, Tally>> properties;
  for (const Finding* each : of_pair.findings) {
    algorithms.insert(each->unit.algorithm);
    properties[each->unit.property][each->unit.algorithm].add(*each);
  }
  const std::string error = error_of(of_pair.tally);
  const Html::Element box = html.open("details");
  html.leaf("summary",
            fmt::format("{} on {}: {}{}",
                        pair.first,
                        pair.second,
                        look_of(of_pair.tally).text,
                        error == "-" ? "" : "; worst error/bound of right elements: " + error));
  const Html::Element content = html.open("div", {{"id", of_pair.id}});
  const std::string caption = fmt::format(
      "Properties and algorithms of {} on {}, with verdict and "
      "worst error/bound of right elements",
      pair.first,
      pair.second);
  write_table(html, caption, [&] {
    std::vector<std::string> columns{"property"};
    columns.insert(columns.end(), algorithms.begin(), algorithms.end());
    write_head(html, columns);
    const Html::Element body = html.open("tbody");
    for (const auto& [property, cells] : properties) {
      const Html::Element row = html.open("tr");
      html.leaf("th", property, {{"scope", "row"}});
      for (const std::string& algorithm : algorithms) {
        const Html::Element cell = html.open("td");
        const auto found = cells.find(algorithm);
        if (found == cells.end()) {
          html.text("-");
        } else {
          write_verdict(html, found->second);
        }
      }
    }
  });
}

/// The tables of the first pairs, as many as there is room for. Returns these pairs.
std::set<Pair> write_details(Html& html, const std::map<Pair, PairOfRun>& pairs) {
  std::set<Pair> written;
  for (const auto& [pair, of_pair] : pairs) {
    Html one;
    write_pair(one, pair, of_pair);
    if (html.size() + one.size() > details_bytes_max) break;
    html.append(one);
    written.insert(pair);
  }
  return written;
}

template <class Names>
void say_what_is_left_out(Html& html, const Names& names, std::size_t most, const char* what) {
  if (names.size() <= most) return;
  html.leaf("p", fmt::format("and {} more {}, which report.json lists", names.size() - most, what));
}

}  // namespace

void write_matrix(Html& html, const Report& report, const Summary& summary) {
  std::map<Pair, PairOfRun> pairs;
  std::set<std::string> operations;
  std::set<std::string> backends;
  for (const SummaryRow& each : summary.rows) {
    operations.insert(each.operation);
    backends.insert(each.backend);
    pairs[{each.operation, each.backend}].tally = each.tally;
  }
  for (const Finding& each : report.findings) {
    pairs[{each.unit.operation, each.unit.tested()}].findings.push_back(&each);
  }
  std::size_t number = 0;
  for (auto& [pair, of_pair] : pairs) of_pair.id = fmt::format("pair-{}", ++number);
  Html details;
  const std::set<Pair> with_details = write_details(details, pairs);

  const Html::Element section = html.open("section", {{"aria-labelledby", "matrix"}});
  html.leaf("h2", "Operations and backends", {{"id", "matrix"}});
  const std::vector<std::string> columns(
      backends.begin(),
      std::next(backends.begin(), std::min<std::ptrdiff_t>(std::ssize(backends), backends_max)));
  constexpr const char* caption =
      "Verdict of each operation on each backend, and worst error/bound of right elements";
  write_table(html, caption, [&] {
    std::vector<std::string> head{"operation"};
    head.insert(head.end(), columns.begin(), columns.end());
    write_head(html, head);
    const Html::Element body = html.open("tbody");
    std::size_t rows = 0;
    for (const std::string& operation : operations) {
      if (++rows > rows_max) break;
      const Html::Element row = html.open("tr");
      html.leaf("th", shortened(operation, name_bytes_max), {{"scope", "row"}});
      for (const std::string& backend : columns) {
        const Html::Element cell = html.open("td");
        const auto found = pairs.find({operation, backend});
        if (found == pairs.end()) {
          html.text("-");
        } else if (with_details.contains(found->first)) {
          const Html::Element link = html.open("a", {{"href", "#" + found->second.id}});
          write_verdict(html, found->second.tally);
        } else {
          write_verdict(html, found->second.tally);
        }
      }
    }
  });
  say_what_is_left_out(html, operations, rows_max, "operations");
  say_what_is_left_out(html, backends, backends_max, "backends");
  html.leaf("h3", "Algorithms and properties");
  html.append(details);
  say_what_is_left_out(html, pairs, with_details.size(), "pairs");
}

}  // namespace rankcheck::harness::page
