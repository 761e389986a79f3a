#include "harness/compare/report_parser.hpp"

#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "harness/base/json_text.hpp"
#include "harness/case/case.hpp"

namespace rankcheck::harness::compare {

using nlohmann::ordered_json;

ReportRest parse_report(std::string_view text,
                        const std::string& place,
                        const SkippedFields& skipped,
                        const TakeFinding& take) {
  using Event = ordered_json::parse_event_t;
  if (!is_shallow(text, json_depth_max)) throw BadInput(place + ": " + why_not_json(text));
  ReportRest rest;
  // The names on the way to a value: of a field of the report, and of a field of the finding or of
  // the environment.
  std::string top;
  std::string field;
  // The unit whose duration is the next value, if there is one.
  std::string timed_unit;
  bool is_in_findings = false;
  std::size_t taken = 0;
  std::vector<std::string> cells;
  const auto keeps_name = [&](int depth, std::string& name) {
    timed_unit.clear();
    if (depth == 1) {
      top = name;
      return name != "summary" && name != "total" && name != "causes";
    }
    if (depth == (is_in_findings ? 3 : 2)) field = name;
    if (is_in_findings && depth == 3) return !skipped.contains(name);
    const bool is_cell = is_in_findings && depth == 4 && field == "cells";
    const bool is_duration = top == "environment" && depth == 3 && field == "durations_s";
    if (is_cell) cells.push_back(std::move(name));
    if (is_duration) timed_unit = std::move(name);
    return !is_cell && !is_duration;
  };
  // `depth` is the number of open lists and objects around the value or the name.
  const auto keeps = [&](int depth, Event event, ordered_json& value) {
    const bool is_of_findings = is_in_findings && depth == 2;
    if (is_of_findings && (event == Event::value || event == Event::array_start)) {
      throw BadInput(fmt::format("{}: findings[{}]: expected an object", place, taken));
    }
    if (event == Event::key) return keeps_name(depth, value.get_ref<std::string&>());
    if (event == Event::value && !timed_unit.empty() && value.is_number()) {
      rest.durations[std::exchange(timed_unit, {})] = value.get<double>();
    }
    if (depth == 1 && top == "findings") is_in_findings = event == Event::array_start;
    // Where a finding begins, there is no value yet.
    if (!is_of_findings || !value.is_object()) return true;
    ++taken;
    take(std::move(value), std::exchange(cells, {}));
    return false;
  };
  rest.json = ordered_json::parse(text, keeps, false);
  if (rest.json.is_discarded()) throw BadInput(place + ": " + why_not_json(text));
  return rest;
}

}  // namespace rankcheck::harness::compare
