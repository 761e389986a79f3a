#include "harness/case/strata.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <gtest/gtest.h>

namespace rankcheck::harness {
namespace {

TEST(StrataTest, EveryLimitIsMetOnBothSidesAndInSegments) {
  for (const std::int64_t bytes : {1, 2, 4, 8, 16}) {
    for (const Stratum& each : strata) {
      RandomSource random(7);
      std::map<std::int64_t, int> drawn;
      for (int i = 0; i < 1'000; ++i) ++drawn[large_count(random, each.bytes, bytes)];
      const std::int64_t limit = each.bytes / bytes;
      for (const int distance : {-1, 0, 1}) EXPECT_TRUE(drawn.contains(limit + distance)) << limit;
      for (const int segments : {2, 3}) {
        const auto next = drawn.upper_bound(segments * limit);
        ASSERT_NE(next, drawn.end());
        EXPECT_LE(next->first - segments * limit, limit / 8) << segments << " of " << limit;
      }
      EXPECT_EQ(drawn.begin()->first, limit - 1);
      EXPECT_LE(drawn.rbegin()->first, limit * 25 / 8);
    }
  }
}

TEST(StrataTest, SmallLimitsAreDrawnMoreOften) {
  RandomSource random(3);
  std::array<int, strata.size()> drawn{};
  for (int i = 0; i < 20'000; ++i) ++drawn.at(draw_stratum(random));
  EXPECT_TRUE(std::is_sorted(drawn.rbegin(), drawn.rend()));
  EXPECT_GT(drawn.front(), 8'000);
  EXPECT_GT(drawn.back(), 50);
  EXPECT_LT(drawn.back(), 200);
}

}  // namespace
}  // namespace rankcheck::harness
