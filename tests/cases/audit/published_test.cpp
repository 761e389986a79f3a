#include "cases/audit/published.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

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

TEST(PublishedTest, SaysWhyItDoesNotPlantADefect) {
  for (const Published& each : published()) {
    EXPECT_FALSE(each.defect.empty() || each.source.empty() || each.condition.empty());
    EXPECT_FALSE(each.bug_or_reason.empty()) << each.number;
  }
}

}  // namespace

}  // namespace rankcheck::cases::audit
