#include "cases/reconstruct/observer.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/cases/reconstruct/small_data.hpp"

namespace rankcheck::cases::reconstruct {
namespace {

TEST(ChecksTest, AreContentWithStepsWithinTheirBounds) {
  Checks checks;
  EXPECT_EQ(checks.complaint(false), "");
  checks.add({.ratio = 1});
  EXPECT_EQ(checks.complaint(true), "");
}

TEST(ChecksTest, TellStepsBeyondTheirBounds) {
  Checks checks;
  checks.add({.ratio = 1.01});
  checks.add({.ratio = 0});
  EXPECT_EQ(checks.complaint(true), "falsified: a step is beyond its bound");
  Checks of_none;
  of_none.add({.ratio = std::nan("")});
  EXPECT_EQ(of_none.complaint(true), "falsified: a step is beyond its bound");
}

TEST(ChecksTest, TellWhenNothingWasCompared) {
  Checks checks;
  EXPECT_EQ(checks.complaint(true),
            "vacuous: no step had a useful bound of the object or the probe");
  checks.add({.ratio = 0, .useful = 0.5, .has_power = false});
  EXPECT_EQ(checks.complaint(true),
            "vacuous: no step had a useful bound of the object or the probe");
}

TEST(ChecksTest, TellTheFirstRankThatWentItsOwnWay) {
  Checks checks;
  checks.add_unequal(7, "rank 2: probe");
  checks.add_unequal(8, "rank 1: object");
  EXPECT_EQ(checks.complaint(false),
            "falsified: after step 7, not all ranks have the same bits: rank 2: probe");
}

TEST(PaceTest, IsThatOfIterationsWithoutChecks) {
  Pace pace({.iterations = 10}, 16, 4);
  EXPECT_EQ(pace.each(6, 3), 1.5);
  EXPECT_EQ(pace.left(6, 3), 4 * 1.5);
  EXPECT_EQ(pace.left(10, 9), 0);
}

TEST(PaceTest, CountsChecksAtTheirOwnPrice) {
  // Four of the steps 9 to 20 are checked: 9, 12, 15 and 18.
  Pace pace({.iterations = 10, .check_every = 3}, 2, 4);
  EXPECT_EQ(pace.checks_to_come(4), 4);
  pace.checked(100);
  EXPECT_EQ(pace.each(5, 101), 1);
  EXPECT_EQ(pace.left(5, 101), 5 + 3 * 100);
  pace.checked(300);
  EXPECT_EQ(pace.each(6, 402), 1);
  EXPECT_EQ(pace.left(6, 402), 4 + 2 * 200);
  EXPECT_EQ(pace.checks_to_come(10), 0);
}

TEST(PaceTest, LeavesOutChecksThatHaveNoPriceYet) {
  Pace pace({.iterations = 10, .check_every = 5}, 1, 0);
  EXPECT_FALSE(pace.knows_checks());
  EXPECT_EQ(pace.left(2, 4), 16);
  pace.checked(7);
  EXPECT_TRUE(pace.knows_checks());
}

TEST(AnyProcessTest, IsWhatAnyProcessSays) {
  Devices devices(3);
  AnyProcess any_process(devices);
  EXPECT_FALSE(any_process.says(false));
  EXPECT_TRUE(any_process.says(true));
  EXPECT_FALSE(any_process.says(false));
}

}  // namespace
}  // namespace rankcheck::cases::reconstruct
