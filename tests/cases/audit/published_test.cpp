#include "cases/audit/published.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "harness/base/files.hpp"
#include "harness/suite/suite_file.hpp"

#include "cases/audit/catalogue.hpp"
#include "cases/audit/stand_in.hpp"

namespace rankcheck::cases::audit {

namespace {

TEST(PublishedTest, NumbersItsRowsInOrder) {
  int number = 0;
  for (const Published& each : published()) EXPECT_EQ(each.number, ++number);
  EXPECT_EQ(number, 40);
}

TEST(PublishedTest, PlantsWhatItCallsPlanted) {
  std::set<std::string_view> used;
  for (const Published& each : published()) {
    const bool is_huge = each.state == PublishedState::huge;
    if (each.state != PublishedState::planted && !is_huge) continue;
    const std::vector<Bug> bugs = is_huge ? huge_bugs() : catalogue();
    const auto is_named = [&](const Bug& bug) { return bug.name == each.bug_or_reason; };
    EXPECT_TRUE(std::any_of(bugs.begin(), bugs.end(), is_named)) << each.bug_or_reason;
    EXPECT_TRUE(used.insert(each.bug_or_reason).second)
        << each.bug_or_reason << " stands for two defects";
  }
}

TEST(PublishedTest, PlantsInTheStandInWhatItSays) {
  std::set<std::string_view> named;
  for (const Published& each : published()) {
    if (each.state == PublishedState::stand_in) named.insert(each.bug_or_reason);
  }
  std::set<std::string_view> planted;
  for (const StandInFault& each : stand_in_faults()) planted.insert(each.name);
  EXPECT_EQ(named, planted);
}

/// Whether a suite has an entry with the operation and the count of a bug.
bool has_entry(const std::string& suite, std::string_view operation, const Bug& bug) {
  const std::string path = RANKCHECK_SOURCE_DIR "/cases/suites/" + suite;
  const harness::Suite read = harness::suite_from_text(harness::read_file(path), suite);
  return std::any_of(
      read.entries.begin(), read.entries.end(), [&](const harness::SuiteEntry& entry) {
        return entry.operation == operation && entry.property == bug.found_by.property &&
               entry.count == bug.count && entry.ranks_max >= bug.ranks_max &&
               !entry.types.empty() && entry.types.front() == bug.type;
      });
}

/// Otherwise the audit would find what no run looks for.
TEST(PublishedTest, ASuiteHasTheCountsThatAreTooLargeToBeDrawn) {
  for (const Bug& bug : catalogue()) {
    EXPECT_TRUE(bug.count == 0 || has_entry("ci.json", "*", bug)) << bug.name;
  }
  for (const Bug& bug : huge_bugs())
    EXPECT_TRUE(has_entry("huge.json", bug.target.operation, bug)) << bug.name;
}

TEST(PublishedTest, SaysWhyItDoesNotPlantADefect) {
  for (const Published& each : published()) {
    EXPECT_FALSE(each.defect.empty() || each.source.empty() || each.condition.empty());
    EXPECT_FALSE(each.bug_or_reason.empty()) << each.number;
  }
}

}  // namespace

}  // namespace rankcheck::cases::audit
