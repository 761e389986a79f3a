#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace rankcheck::harness::compare {

/// A report without its largest parts, which are handed over while the text is parsed.
struct ReportRest {
  /// The report without "summary", "total" and the durations of units, and with an empty list of
  /// findings.
  nlohmann::ordered_json json;
  /// Seconds that each unit took, by the unit's id.
  std::map<std::string, double> durations;
};

/// The fields of a finding that are not read.
using SkippedFields = std::set<std::string, std::less<>>;

/// Takes a finding without its cells, and the names of the cells in the order of the text.
using TakeFinding =
    std::function<void(nlohmann::ordered_json finding, std::vector<std::string> cells)>;

/// Parses the text of a report. A report may have 100,000 findings and more, so only one of them is
/// in memory as JSON at a time, and the counts of its cells never are. Throws BadInput that names
/// `place` if the text is not JSON or a finding is not an object, and what `take` throws.
[[nodiscard]] ReportRest parse_report(std::string_view text,
                                      const std::string& place,
                                      const SkippedFields& skipped,
                                      const TakeFinding& take);

}  // namespace rankcheck::harness::compare
