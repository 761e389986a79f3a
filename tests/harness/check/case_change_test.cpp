#include "harness/check/case_change.hpp"

#include <gtest/gtest.h>

#include "harness/check/finding.hpp"

#include "cases/families/collectives/case.hpp"

namespace rankcheck::harness {
namespace {

Case reduced() {
  Case c;
  c.operation = "reduce";
  c.ranks = 4;
  return c;
}

TEST(CaseChangeTest, NamesTheFieldsThatDiffer) {
  Case before = reduced();
  before.count = 65535;
  before.in_place = true;
  before.schedule = "random:12";
  cases::collective(before).root = 3;
  Case after = reduced();
  after.count = 1;
  EXPECT_EQ(changes_between(before, after),
            (std::vector<FieldChange>{{"count", "65535", "1"},
                                      {"in_place", "true", "false"},
                                      {"schedule", "random:12", "in_order"},
                                      {"root", "3", "0"}}));
  EXPECT_EQ(
      step_text(before, after),
      "count 65535 -> 1, in_place true -> false, schedule random:12 -> in_order, root 3 -> 0");
}

TEST(CaseChangeTest, EqualCasesDifferInNothing) {
  EXPECT_TRUE(changes_between(reduced(), reduced()).empty());
  EXPECT_EQ(step_text(reduced(), reduced()), "");
}

TEST(CaseChangeTest, TextIsBounded) {
  Case before = reduced();
  before.counts.assign(10'000, 123'456'789);
  before.group.assign(10'000, 123'456'789);
  Case after = before;
  after.counts.assign(9'000, 1);
  after.group.clear();
  EXPECT_LE(step_text(before, after).size(), step_bytes_max);
  EXPECT_EQ(step_text(before, after).find("group [123456789"), 0U);
}

}  // namespace
}  // namespace rankcheck::harness
