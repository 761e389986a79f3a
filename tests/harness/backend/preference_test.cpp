#include "harness/backend/preference.hpp"

#include <array>
#include <map>
#include <string_view>

#include <gtest/gtest.h>

namespace rankcheck::harness {
namespace {

constexpr std::array<std::string_view, 3> algorithms{"direct", "ring", "binomial"};

std::string_view preferred(const Case& c) {
  std::string_view best = algorithms[0];
  for (const std::string_view each : algorithms) {
    if (preference(c, each) > preference(c, best)) best = each;
  }
  return best;
}

TEST(PreferenceTest, GivesEveryAlgorithmItsTurn) {
  std::map<std::string_view, int> turns;
  Case c;
  c.operation = "reduce";
  for (c.data_seed = 0; c.data_seed < 300; ++c.data_seed) ++turns[preferred(c)];
  for (const std::string_view each : algorithms) EXPECT_GT(turns[each], 70) << each;
}

/// Stages of one case that run different operations choose independently.
TEST(PreferenceTest, DependsOnTheOperation) {
  int same = 0;
  Case c;
  Case other;
  c.operation = "reduce";
  other.operation = "broadcast";
  for (c.data_seed = 0; c.data_seed < 300; ++c.data_seed) {
    other.data_seed = c.data_seed;
    same += preferred(c) == preferred(other) ? 1 : 0;
  }
  EXPECT_LT(same, 150);
}

/// A pinned case must make the same choice for ever.
TEST(PreferenceTest, StaysAsItIs) {
  Case c;
  c.operation = "all_reduce";
  c.data_seed = 7;
  EXPECT_EQ(preference(c, "ring"), 2632291319898043761U);
}

}  // namespace
}  // namespace rankcheck::harness
