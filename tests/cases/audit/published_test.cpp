#include "cases/audit/published.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "harness/files.hpp"
#include "harness/suite_file.hpp"

#include "cases/audit/catalogue.hpp"

namespace rankcheck::cases::audit {

namespace {

TEST(PublishedTest, NumbersItsRowsInOrder) {
  int number = 0;
  for (const Published& each : published()) EXPECT_EQ(each.number, ++number);
  EXPECT_EQ(number, 40);
}

TEST(PublishedTest, PlantsWhatItCallsPlanted) {
  const std::vector<Bug> bugs = catalogue();
  std::set<std::string_view> used;
  for (const Published& each : published()) {
    if (each.state != PublishedState::planted) continue;
    const auto is_named = [&](const Bug& bug) { return bug.name == each.bug_or_reason; };
    EXPECT_TRUE(std::any_of(bugs.begin(), bugs.end(), is_named)) << each.bug_or_reason;
    EXPECT_TRUE(used.insert(each.bug_or_reason).second)
        << each.bug_or_reason << " stands for two defects";
  }
}

/// Otherwise the audit would find what no run looks for.
TEST(PublishedTest, ASuiteHasTheCountsThatAreTooLargeToBeDrawn) {
  const harness::Suite ci = harness::suite_from_text(
      harness::read_file(RANKCHECK_SOURCE_DIR "/cases/suites/ci.json"), "ci.json");
  for (const Bug& bug : catalogue()) {
    if (bug.count == 0) continue;
    const auto has_it = [&](const harness::SuiteEntry& entry) {
      return entry.operation == "*" && entry.property == bug.property && entry.count == bug.count &&
             entry.ranks_max >= bug.ranks_max && entry.types == std::vector{spec::Type::int8};
    };
    EXPECT_TRUE(std::any_of(ci.entries.begin(), ci.entries.end(), has_it)) << bug.name;
  }
}

TEST(PublishedTest, SaysWhyItDoesNotPlantADefect) {
  for (const Published& each : published()) {
    EXPECT_FALSE(each.defect.empty() || each.source.empty() || each.condition.empty());
    EXPECT_FALSE(each.bug_or_reason.empty()) << each.number;
  }
}

}  // namespace

}  // namespace rankcheck::cases::audit
