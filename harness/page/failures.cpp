#include <algorithm>

#include <fmt/format.h>

#include "harness/base/table.hpp"
#include "harness/page/cards.hpp"
#include "harness/page/sections.hpp"
#include "harness/page/style.hpp"

namespace rankcheck::harness::page {

namespace {

bool is_known(const Finding& finding) {
  return finding.is_known;
}

/// What the run says about a known defect, as text with its colour.
Look look_of_known(const KnownStatus& status) {
  std::string late = status.is_expired ? ", expired on " + status.defect.expires : "";
  switch (status.state) {
    case KnownState::failing:
      return {status.is_expired ? "doubt" : "quiet", "still fails" + late};
    case KnownState::passing:
      return {"doubt", "passed: it may be mended" + late};
    case KnownState::unmatched:
      return {"doubt", "covers no case of this run" + late};
    case KnownState::not_applied:
      return {"quiet", "not applied: another library or version" + late};
    case KnownState::not_checked:
      break;
  }
  return {"quiet", "not checked to the end" + late};
}

void write_entries(Html& html, const std::vector<KnownStatus>& known) {
  write_table(html, "Known defects that this run was given", [&] {
    write_head(html, {"defect", "in this run", "failed cases", "units", "reason"});
    const Html::Element body = html.open("tbody");
    for (std::size_t i = 0; i < std::min(known.size(), rows_max); ++i) {
      const KnownStatus& each = known[i];
      const Look look = look_of_known(each);
      const Html::Element row = html.open("tr");
      html.leaf("th", shortened(each.defect.id, 80), {{"scope", "row"}});
      html.leaf("td", look.text, {{"class", look.css}});
      html.leaf("td",
                fmt::format("{} of {}", grouped(each.failed), grouped(each.covered)),
                {{"class", "number"}});
      html.leaf("td", grouped(each.units), {{"class", "number"}});
      const std::string& link = each.defect.link;
      html.leaf(
          "td",
          shortened(each.defect.reason, 300) + (link.empty() ? "" : "; " + shortened(link, 200)),
          {{"class", "said"}});
    }
  });
  if (known.size() > rows_max) {
    html.leaf("p", fmt::format("and {} more, which report.json lists", known.size() - rows_max));
  }
}

}  // namespace

std::size_t write_failures(Html& html, const Report& report) {
  const std::vector<FailureGroup> groups = group_failures(report.findings);
  if (groups.empty()) return 0;
  const Html::Element section = html.open("section", {{"aria-labelledby", "failures"}});
  html.leaf("h2", "Failures", {{"id", "failures"}});
  html.leaf("p",
            "Each card is one cause: units on one backend whose failures look alike. Its command "
            "runs its smallest failing case again.",
            {{"class", "faint"}});
  return write_cards(html, groups);
}

void write_known(Html& html, const Report& report, std::size_t cards_left) {
  const std::vector<FailureGroup> groups = group_findings(report.findings, is_known);
  if (groups.empty() && report.known.empty()) return;
  const Html::Element section = html.open("section", {{"aria-labelledby", "known"}});
  html.leaf("h2", "Known defects", {{"id", "known"}});
  html.leaf("p",
            "Somebody listed these defects in a file for --known. What fails only as such a defect "
            "says does not make the run fail. All else is checked as usual.",
            {{"class", "faint"}});
  if (!report.known.empty()) write_entries(html, report.known);
  write_cards(html, groups, {.id = "known", .most = cards_left, .open_max = 0});
}

}  // namespace rankcheck::harness::page
