#include "reference/numerics/superaccumulator.hpp"

#include <algorithm>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace rankcheck::tests {
namespace {

using numerics::Pair;
constexpr double huge = std::numeric_limits<double>::max();

Pair sum_of(const std::vector<double>& values) {
  numerics::Superaccumulator accumulator;
  for (const double x : values) accumulator.add(x);
  return numerics::to_pair(accumulator.value());
}

struct KnownSum {
  std::string name;
  std::vector<double> values;
  double high;
  double low;

  friend void PrintTo(const KnownSum& sum, std::ostream* out) {
    *out << sum.name << " " << testing::PrintToString(sum.values);
  }
};

class SuperaccumulatorTest : public testing::TestWithParam<KnownSum> {};

INSTANTIATE_TEST_SUITE_P(
    Known,
    SuperaccumulatorTest,
    testing::Values(
        KnownSum{"nothing", {}, 0, 0},
        KnownSum{"zeros", {0.0, -0.0}, 0, 0},
        KnownSum{"whole_numbers", {1, 2, 3, 4}, 10, 0},
        KnownSum{"large_ones_cancel", {1e300, 1, -1e300}, 1, 0},
        KnownSum{"below_the_last_bit", {1, 0x1p-60}, 1, 0x1p-60},
        KnownSum{"below_the_last_bit_negative", {-1, -0x1p-60}, -1, -0x1p-60},
        KnownSum{"far_below", {1, -0x1p-100}, 1, -0x1p-100},
        KnownSum{
            "extremes_cancel", {0x1p1000, 0x1p-1000, -0x1p1000, -0x1p-1074}, 0x1p-1000, -0x1p-1074},
        KnownSum{"subnormals", {5e-324, 5e-324, 5e-324}, 1.5e-323, 0},
        KnownSum{"borrow_to_subnormal", {0x1p-1022, -5e-324}, 0x1.ffffffffffffep-1023, 0},
        KnownSum{"overflow", {huge, huge}, huge, huge},
        KnownSum{"overflow_negative", {-huge, -0x1p970, -0x1p969}, -huge, -0x1.8p970},
        KnownSum{"overflow_that_cancels", {huge, huge, -huge}, huge, 0}),
    [](const auto& each) { return each.param.name; });

TEST_P(SuperaccumulatorTest, IsExactInEveryOrder) {
  std::vector<double> values = GetParam().values;
  std::sort(values.begin(), values.end());
  do {
    const Pair sum = sum_of(values);
    EXPECT_EQ(sum.high, GetParam().high);
    EXPECT_EQ(sum.low, GetParam().low);
  } while (std::next_permutation(values.begin(), values.end()));
}

TEST(SuperaccumulatorUseTest, ClearForgetsEverything) {
  numerics::Superaccumulator accumulator;
  accumulator.add(1e300);
  accumulator.add(-5e-324);
  accumulator.clear();
  accumulator.add(3);
  EXPECT_EQ(numerics::to_pair(accumulator.value()).high, 3);
  EXPECT_EQ(numerics::to_pair(accumulator.value()).low, 0);
}

TEST(SuperaccumulatorUseTest, CarriesThroughManyTerms) {
  numerics::Superaccumulator accumulator;
  for (int i = 0; i < 100000; ++i) accumulator.add(0x1.fffffffffffffp52);
  const Pair sum = numerics::to_pair(accumulator.value());
  EXPECT_EQ(sum.high + sum.low, 100000 * 0x1.fffffffffffffp52);
  EXPECT_EQ((sum.high - 0x1p53 * 100000) + sum.low, -100000);
}

}  // namespace
}  // namespace rankcheck::tests
