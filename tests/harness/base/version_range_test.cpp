#include "harness/base/version_range.hpp"

#include <gtest/gtest.h>

#include "harness/case/case.hpp"

namespace rankcheck::harness {
namespace {

bool contains(const char* range, const char* version) {
  return VersionRange(range).contains(version);
}

TEST(VersionRangeTest, AllConditionsMustHold) {
  EXPECT_TRUE(contains(">=4.0.0 <4.1", "4.0.2"));
  EXPECT_FALSE(contains(">=4.0.0 <4.1", "4.1"));
  EXPECT_FALSE(contains(">=4.0.0 <4.1", "3.9.9"));
}

TEST(VersionRangeTest, MissingNumbersAreZero) {
  EXPECT_TRUE(contains("4.0", "4.0.0"));
  EXPECT_FALSE(contains("4.0", "4.0.2"));
  EXPECT_FALSE(contains("<=4.0", "4.0.2"));
  EXPECT_TRUE(contains(">4.0", "4.0.2"));
}

TEST(VersionRangeTest, AStarIsForAnyFurtherNumbers) {
  EXPECT_TRUE(contains("4.0.*", "4.0.2"));
  EXPECT_TRUE(contains("=4.0.*", "4.0"));
  EXPECT_FALSE(contains("4.0.*", "4.1"));
}

TEST(VersionRangeTest, NumbersAreComparedAsNumbers) {
  EXPECT_TRUE(contains(">=4.9", "4.10"));
}

TEST(VersionRangeTest, WhatFollowsTheNumbersDoesNotCount) {
  EXPECT_TRUE(contains("1.13.0", "1.13.0a0+git"));
  EXPECT_FALSE(contains("1.13.0", "none"));
}

TEST(VersionRangeTest, RefusesWhatIsNoCondition) {
  for (const char* text :
       {"", " ", "newest", ">= 4.0", ">=4.*", "4..0", "4.0,5", "~4", ">=4.0.*"}) {
    EXPECT_THROW(VersionRange{text}, BadInput) << text;
  }
}

TEST(VersionRangeTest, FindsTheVersionBehindTheName) {
  EXPECT_EQ(version_behind("MPICH", "MPICH Version:\t4.0.2"), "4.0.2");
  EXPECT_EQ(version_behind("open mpi", "Open MPI v4.1.4, package: Debian, ident: 9"), "4.1.4");
  EXPECT_EQ(version_behind("MPICH", "Open MPI v4.1.4"), "");
  EXPECT_EQ(version_behind("MPI", "MPICH 4.0.2"), "") << "the name is another word";
  EXPECT_EQ(version_behind("", "MPICH 4.0.2"), "");
}

}  // namespace
}  // namespace rankcheck::harness
