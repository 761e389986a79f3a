#include "harness/compare/trend_page.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "harness/base/table.hpp"
#include "harness/page/limits.hpp"
#include "harness/page/pictures.hpp"
#include "harness/page/sections.hpp"
#include "harness/page/style.hpp"

namespace rankcheck::harness::compare {

namespace {

using page::Html;

using Values = std::vector<std::optional<double>>;

std::string text_in(const RunReport& run, const char* field) {
  const auto found = run.environment.find(field);
  const bool is_text = found != run.environment.end() && found->is_string();
  return is_text ? shortened(found->get<std::string>(), 80) : "not known";
}

void write_list(Html& html, const Trend& trend) {
  page::write_table(html, "The runs in the order of time", [&] {
    page::write_head(html, {"run", "report", "started", "rankcheck", "units"});
    const Html::Element body = html.open("tbody");
    for (std::size_t i = 0; i < std::min(trend.runs.size(), page::rows_max); ++i) {
      const RunReport& run = *trend.runs[i];
      const Html::Element row = html.open("tr");
      html.leaf("th", std::to_string(i + 1), {{"scope", "row"}});
      html.leaf("td", shortened(run.name, page::name_bytes_max));
      html.leaf("td", text_in(run, "started"));
      html.leaf("td", text_in(run, "rankcheck"));
      html.leaf("td", grouped(std::ssize(run.findings)), {{"class", "number"}});
    }
  });
}

/// The verdict in words, or `none` if the run has none.
std::string words_of(const TrendPoint& point, const char* none) {
  if (point.fails_only_as_known()) return "failed only as known";
  return point.verdict ? std::string(name(*point.verdict)) : none;
}

/// Writes a sign for the verdict of each run, and the latest in words.
void write_verdicts(Html& html, const std::vector<TrendPoint>& points) {
  const Html::Element cell = html.open("td");
  std::string said;
  for (std::size_t i = 0; i < points.size(); ++i) {
    said += fmt::format("{}run {} {}", i == 0 ? "" : ", ", i + 1, words_of(points[i], "has none"));
  }
  {
    const Html::Element all = html.open("span", {{"role", "img"}, {"aria-label", said}});
    for (const TrendPoint& each : points) {
      page::Look look = each.verdict ? page::look_of(*each.verdict) : page::Look{"quiet", "\u00b7"};
      if (each.fails_only_as_known()) look = {"doubt", "! known"};
      // The first word is the sign.
      html.leaf("span", look.text.substr(0, look.text.find(' ')), {{"class", "badge " + look.css}});
      html.text(" ");
    }
  }
  html.text(words_of(points.back(), "none"));
}

/// Writes a line and its latest value.
void write_line(Html& html, const std::string& title, const Values& values, const char* zero) {
  const Html::Element cell = html.open("td");
  page::draw_line(html, title, values);
  const auto& latest = values.back();
  html.text(!latest        ? std::string("none")
            : *latest == 0 ? std::string(zero)
                           : fmt::format("{:.3g}", *latest));
}

template <class Member>
Values values_of(const TrendRow& row, Member member) {
  Values out;
  for (const TrendPoint& each : row.points) out.push_back(each.*member);
  return out;
}

}  // namespace

void write_trend(Html& html, const Trend& trend) {
  if (trend.runs.size() < 3) return;
  const Html::Element section = html.open("section", {{"aria-labelledby", "trend"}});
  html.leaf("h2", "Over all runs", {{"id", "trend"}});
  html.leaf(
      "p",
      "Every sign and every dot is a run, in the order of time. Lines begin at zero. The text "
      "below a line is the latest value.",
      {{"class", "faint"}});
  write_list(html, trend);
  page::write_table(html, "Operations and backends over the runs", [&] {
    page::write_head(html,
                     {"operation",
                      "backend",
                      "verdict",
                      "worst error/bound",
                      "cases per second",
                      "multiple of the floor"});
    const Html::Element body = html.open("tbody");
    for (std::size_t i = 0; i < std::min(trend.rows.size(), page::rows_max); ++i) {
      const TrendRow& each = trend.rows[i];
      const Html::Element row = html.open("tr");
      html.leaf("th", shortened(each.operation, page::name_bytes_max), {{"scope", "row"}});
      html.leaf("td", shortened(each.tested, page::name_bytes_max));
      write_verdicts(html, each.points);
      write_line(html, "Worst error/bound", values_of(each, &TrendPoint::ratio_max), "exact");
      write_line(html, "Cases per second", values_of(each, &TrendPoint::cases_per_second), "0");
      write_line(html,
                 "Time of bench as a multiple of its floor",
                 values_of(each, &TrendPoint::floor_ratio),
                 "0");
    }
  });
  if (trend.rows.size() > page::rows_max) {
    html.leaf("p", fmt::format("and {} more rows", trend.rows.size() - page::rows_max));
  }
}

}  // namespace rankcheck::harness::compare
