#include <gtest/gtest.h>

#include "harness/compare/comparison_text.hpp"

namespace rankcheck::harness::compare {
namespace {

Change change(Kind kind, const std::string& what) {
  Change one;
  one.kind = kind;
  one.what = what;
  one.before = "passed";
  one.now = "falsified: 1 element";
  one.is_worse = kind != Kind::still_broken;
  return one;
}

TEST(ComparisonAnnotationsTest, NameWhatIsNewlyBroken) {
  Comparison comparison;
  comparison.changes = {change(Kind::newly_broken, "a"),
                        change(Kind::still_broken, "b"),
                        change(Kind::flaky, "c"),
                        change(Kind::newly_broken, "known")};
  comparison.changes[0].minimal = {{"operation", "a"}};
  comparison.changes[2].before.clear();
  comparison.changes[3].is_worse = false;
  const auto all = annotations_of(comparison, "worse");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].title, "rankcheck: newly broken: a");
  EXPECT_EQ(all[0].message,
            "passed -> falsified: 1 element\nrankcheck replay '{\"operation\":\"a\"}'");
  EXPECT_EQ(all[1].title, "rankcheck: flaky: c");
  EXPECT_EQ(all[1].message, "falsified: 1 element");
}

TEST(ComparisonAnnotationsTest, GiveTheVerdictIfNothingIsBroken) {
  Comparison comparison;
  comparison.changes = {change(Kind::coverage_lost, "a/*")};
  const auto all = annotations_of(comparison, "worse: 1 coverage lost");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].message, "worse: 1 coverage lost");
}

}  // namespace
}  // namespace rankcheck::harness::compare
