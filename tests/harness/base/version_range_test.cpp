#include "harness/base/version_range.hpp"

#include <gtest/gtest.h>

#include "harness/case/case.hpp"

namespace rankcheck::harness {
namespace {

TEST(VersionRangeTest, HoldsWhereAllConditionsDo) {
  struct Row {
    const char* range;
    const char* version;
    bool holds;
  };
  for (const auto& [range, version, holds] : {
           Row{">=4.0.0 <4.1", "4.0.2", true},
           Row{">=4.0.0 <4.1", "4.1", false},
           Row{">=4.0.0 <4.1", "3.9.9", false},
           // Missing numbers are zero.
           Row{"4.0", "4.0.0", true},
           Row{"4.0", "4.0.2", false},
           Row{"<=4.0", "4.0.2", false},
           Row{">4.0", "4.0.2", true},
           // A star is for any further numbers.
           Row{"4.0.*", "4.0.2", true},
           Row{"=4.0.*", "4.0", true},
           Row{"4.0.*", "4.1", false},
           // Numbers are compared as numbers, and what follows them does not count.
           Row{">=4.9", "4.10", true},
           Row{"1.13.0", "1.13.0a0+git", true},
           Row{"1.13.0", "none", false},
       }) {
    EXPECT_EQ(VersionRange(range).contains(version), holds) << range << ": " << version;
  }
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
