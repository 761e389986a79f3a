#include "harness/page/page.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "harness/base/files.hpp"
#include "harness/check/case_change.hpp"
#include "harness/page/packed.hpp"
#include "harness/page/values.hpp"
#include "harness/report/causes.hpp"
#include "harness/report/report_text.hpp"

namespace rankcheck::harness::page {

// page.html with its styles and its script, which CMake joins.
extern const std::string_view page_html;

namespace {

using nlohmann::ordered_json;

/// The text with everything escaped that HTML could take for markup.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// Writes integers that a script cannot hold exactly as texts.
void keep_exact(ordered_json& value) {
  constexpr double largest = 0x1p53;
  if (value.is_structured()) {
    for (ordered_json& each : value) keep_exact(each);
  } else if (value.is_number_integer() && std::abs(value.get<double>()) >= largest) {
    value = value.dump();
  }
}

void fill_in(std::string& document, std::string_view place, const std::string& text) {
  document.replace(document.find(place), place.size(), text);
}

}  // namespace

std::string document(const WithoutScript& shown, ordered_json data) {
  keep_exact(data);
  const std::string text = data.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  std::string out(page_html);
  fill_in(out, "<!--title-->", escaped(shown.title));
  fill_in(out, "<!--verdict-->", escaped(shown.verdict));
  fill_in(out, "<!--summary-->", escaped(shown.text));
  fill_in(out, "<!--data-->", packed(text));
  return out;
}

ordered_json to_page_json(const Finding& finding) {
  ordered_json out = to_json(finding);
  if (!finding.minimal) return out;
  ordered_json page{{"replay", replay_line(to_text(*finding.minimal))},
                    {"says", ordered_json::array()}};
  const WrongElement* const telling = telling_element(finding);
  for (std::size_t i = 0; i < finding.wrong.size(); ++i) {
    const WrongElement& wrong = finding.wrong[i];
    const spec::Type type = finding.minimal->type;
    out["wrong"][i]["expected"] = as_value(type, wrong.expected);
    out["wrong"][i]["got"] = as_value(type, wrong.got);
    page["says"].push_back(in_words(finding, wrong));
    if (&wrong == telling) page["cause"] = i;
  }
  if (finding.original) {
    ordered_json& changes = page["changes"] = ordered_json::array();
    for (const FieldChange& each : changes_between(*finding.original, *finding.minimal)) {
      changes.push_back({each.field, each.before, each.after});
    }
  }
  out["page"] = std::move(page);
  return out;
}

std::string to_html(const Report& report) {
  const std::string verdict = verdict_sentence(report);
  ordered_json data{{"verdict", verdict}, {"cut", what_was_cut(report)}};
  ordered_json& whole = data["report"] = to_json(report);
  whole.erase("summary");
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    if (report.findings[i].minimal) whole["findings"][i] = to_page_json(report.findings[i]);
  }
  const char* const words[] = {"passed", "failed", "not whole"};
  return document({.title = fmt::format("rankcheck: {}", words[exit_status(report)]),
                   .verdict = verdict,
                   .text = verdict_and_failures(report, {}) + '\n' + table_text(report, {})},
                  std::move(data));
}

void write_page(const std::filesystem::path& folder, const Report& report) {
  write_file(folder / page_name, to_html(report));
}

}  // namespace rankcheck::harness::page
