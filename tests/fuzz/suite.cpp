#include "harness/suite/suite_file.hpp"

#include "tests/fuzz/targets.hpp"

namespace rankcheck::fuzz {

namespace {

std::string fault_of_suite(std::string_view input) {
  return fault_of_reading([&]() -> std::string {
    const harness::Suite suite = harness::suite_from_text(std::string(input), "suite: input");
    if (!(suite.time_limit_s >= 0)) return "a time limit below 0";
    if (suite.entries.empty()) return "no entry";
    for (const harness::SuiteEntry& entry : suite.entries) {
      const bool has_ranks = 1 <= entry.ranks_min && entry.ranks_min <= entry.ranks_max;
      if (entry.backends.empty() || entry.cases < 0 || !has_ranks) return "an entry of nothing";
      if (entry.ranks_required.value_or(1) < 1) return "no ranks are required";
    }
    return {};
  });
}

std::vector<std::string> seeds_of_suites() {
  return contents_of("cases/suites", ".json");
}

}  // namespace

Target suite_target() {
  return {"suite", fault_of_suite, seeds_of_suites};
}

}  // namespace rankcheck::fuzz
