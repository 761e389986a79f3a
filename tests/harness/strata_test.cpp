#include "harness/strata.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

namespace rankcheck::harness {
namespace {

TEST(StrataTest, EveryLimitIsMetOnBothSidesAndInSegments) {
  for (const std::int64_t bytes : {1, 2, 4, 8, 16}) {
    RandomSource random(7);
    std::map<std::int64_t, int> drawn;
    for (int i = 0; i < 20'000; ++i) ++drawn[large_count(random, bytes)];
    for (const Stratum& each : strata) {
      const std::int64_t limit = each.bytes / bytes;
      for (const int distance : {-1, 0, 1}) EXPECT_TRUE(drawn.contains(limit + distance)) << limit;
      for (const int segments : {2, 3}) {
        const auto next = drawn.upper_bound(segments * limit);
        ASSERT_NE(next, drawn.end());
        EXPECT_LE(next->first - segments * limit, limit / 8) << segments << " of " << limit;
      }
    }
    EXPECT_EQ(drawn.begin()->first, strata.front().bytes / bytes - 1);
    EXPECT_LE(drawn.rbegin()->first, strata.back().bytes / bytes * 25 / 8);
  }
}

TEST(StrataTest, SmallLimitsAreDrawnMoreOften) {
  RandomSource random(3);
  int least = 0;
  int most = 0;
  for (int i = 0; i < 7'000; ++i) {
    const std::int64_t count = large_count(random, 1);
    least += count < strata[1].bytes - 1 ? 1 : 0;
    most += count >= strata.back().bytes - 1 ? 1 : 0;
  }
  EXPECT_GT(least, 2'000);
  EXPECT_GT(most, 50);
  EXPECT_LT(most, 200);
}

}  // namespace
}  // namespace rankcheck::harness
