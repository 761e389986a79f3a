#include "cases/reconstruct/following.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "reference/registry.hpp"

#include "gpu/device/sim/cluster.hpp"

namespace rankcheck::cases::reconstruct {
namespace {

TEST(Checks, AreContentWithStepsWithinTheirBounds) {
  Checks checks;
  EXPECT_EQ(checks.complaint(false), "");
  checks.add({.ratio = 1});
  EXPECT_EQ(checks.complaint(true), "");
}

TEST(Checks, TellStepsBeyondTheirBounds) {
  Checks checks;
  checks.add({.ratio = 1.01});
  checks.add({.ratio = 0});
  EXPECT_EQ(checks.complaint(true), "falsified: a step is beyond its bound");
  Checks of_none;
  of_none.add({.ratio = std::nan("")});
  EXPECT_EQ(of_none.complaint(true), "falsified: a step is beyond its bound");
}

TEST(Checks, TellWhenNothingWasCompared) {
  Checks checks;
  EXPECT_EQ(checks.complaint(true), "vacuous: no step was compared with the reference");
  checks.add({.ratio = 0, .bounded = 0});
  EXPECT_EQ(checks.complaint(true), "vacuous: no step was compared with the reference");
}

TEST(Checks, TellTheFirstRankThatWentItsOwnWay) {
  Checks checks;
  checks.add_unequal(7, "rank 2: probe");
  checks.add_unequal(8, "rank 1: object");
  EXPECT_EQ(checks.complaint(false),
            "falsified: after step 7, not all ranks have the same bits: rank 2: probe");
}

TEST(Agreement, IsWhatAnyProcessSays) {
  gpu::sim::SimCluster cluster(reference::contract_named);
  cluster.begin(3, {}, {});
  Agreement agreement(cluster);
  EXPECT_FALSE(agreement.any(false));
  EXPECT_TRUE(agreement.any(true));
  EXPECT_FALSE(agreement.any(false));
}

}  // namespace
}  // namespace rankcheck::cases::reconstruct
