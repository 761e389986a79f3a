#include "harness/worker/session_parts.hpp"

#include <gtest/gtest.h>

namespace rankcheck::harness::worker {
namespace {

using std::chrono::milliseconds;

TEST(FailurePatienceTest, GrowsWithTheTimeThatAFailureTook) {
  EXPECT_EQ(failure_patience(milliseconds(0)), milliseconds(250));
  EXPECT_EQ(failure_patience(milliseconds(60)), milliseconds(250));
  EXPECT_EQ(failure_patience(milliseconds(100)), milliseconds(400));
  EXPECT_EQ(failure_patience(milliseconds(499)), milliseconds(1996));
  EXPECT_EQ(failure_patience(milliseconds(60000)), milliseconds(2000));
}

}  // namespace
}  // namespace rankcheck::harness::worker
