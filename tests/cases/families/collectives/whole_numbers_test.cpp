#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference/spec/to_size.hpp"

#include "cases/families/collectives/case.hpp"
#include "cases/families/collectives/inputs.hpp"
#include "tests/cases/families/collectives/inputs.hpp"
#include "tests/print.hpp"

namespace rankcheck::cases {
namespace {

using harness::Case;
using harness::InputKind;
using harness::to_text;

using spec::ReduceOp;
using spec::Type;

/// Claims that hold for every type, op and number of ranks.
class InputTypeTest : public testing::TestWithParam<Type> {
 protected:
  /// Calls `check` for every case with whole-number inputs: all ops and numbers of ranks, and all
  /// ways to combine two inputs.
  template <class Check>
  void for_each_whole_case(Check check) const {
    for (const InputKind input : {InputKind::exact, InputKind::coded}) {
      for (const ReduceOp op : {ReduceOp::sum, ReduceOp::avg, ReduceOp::premul_sum}) {
        if (!spec::is_defined(op, GetParam())) continue;
        for (const int scale : {1, 2, -2}) {
          if (scale != 1 && input != InputKind::exact) continue;
          for (int ranks = 1; ranks <= ranks_max; ++ranks) {
            Case c = make(GetParam(), op, input, ranks);
            c.scale = scale;
            c.added_seed = scale == 1 ? 0 : 9;
            check(c);
          }
        }
      }
    }
  }

  /// Returns the largest sum of magnitudes over the ranks. No partial sum in any order is larger.
  static double largest_sum(const Case& c) {
    // A coded element holds values of some ranks only, so look at enough elements to see every
    // rank.
    const std::int64_t count = c.input == InputKind::coded ? c.ranks : 4;
    std::vector<double> sums(spec::to_size(2 * count));
    for (int rank = 0; rank < c.ranks; ++rank) {
      const double factor = collective(c).op == ReduceOp::premul_sum ? scalar(c, rank) : 1;
      const std::vector<double> each = values(c, rank, count);
      for (std::size_t i = 0; i < each.size(); ++i) sums[i] += std::abs(each[i] * factor);
    }
    return *std::max_element(sums.begin(), sums.end());
  }
};

class FloatInputTest : public InputTypeTest {};

/// Whole numbers up to 2^precision are exact in a float, and so are their sums up to this limit. An
/// exact average divides by a power of two.
TEST_P(FloatInputTest, ExactSumsStayWhole) {
  const double limit = std::ldexp(1.0, spec::info(GetParam()).precision);
  int exact = 0;
  for_each_whole_case([&](const Case& c) {
    if (!is_exact(c)) return;
    ++exact;
    ASSERT_LE(largest_sum(c), limit) << to_text(c);
    for (const double value : values(c, c.ranks - 1, 4)) ASSERT_EQ(value, std::nearbyint(value));
    if (collective(c).op == ReduceOp::avg) {
      ASSERT_TRUE(std::has_single_bit(static_cast<unsigned>(c.ranks)));
    }
  });
  EXPECT_GT(exact, 100);
}

/// Types that have products.
class RealInputTest : public FloatInputTest {};

TEST_P(RealInputTest, ExactProductsArePowersOfTwo) {
  for (int ranks = 1; ranks <= ranks_max; ++ranks) {
    const Case c = make(GetParam(), ReduceOp::prod, InputKind::exact, ranks);
    ASSERT_TRUE(is_exact(c));
    std::vector<double> products(4, 1.0);
    for (int rank = 0; rank < ranks; ++rank) {
      const std::vector<double> each = values(c, rank, 4);
      for (std::size_t i = 0; i < each.size(); ++i) {
        ASSERT_TRUE(std::abs(each[i]) == 1 || std::abs(each[i]) == 2);
        products[i] *= std::abs(each[i]);
      }
    }
    for (const double product : products) ASSERT_LE(product, 256);
  }
}

/// No order of evaluation may overflow, because the bound of a sum assumes this.
TEST_P(FloatInputTest, WideRangesLeaveRoomForTheSum) {
  const Case c = make(GetParam(), ReduceOp::sum, InputKind::wide_range, ranks_max);
  const double largest = std::ldexp(1.0, spec::info(GetParam()).exponent_max);
  EXPECT_LT(largest_sum(c), largest);
  const auto all = values(c, 0, 500);
  const auto [low, high] = std::minmax_element(
      all.begin(), all.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
  EXPECT_GT(std::log2(std::abs(*high) / std::abs(*low)), 15);
}

TEST_P(FloatInputTest, OppositeRanksCancel) {
  const Case c = make(GetParam(), ReduceOp::sum, InputKind::cancelling, 4);
  const double low_bits = std::ldexp(16.0, 3 - spec::info(GetParam()).precision);
  for (const int even : {0, 2}) {
    const auto a = values(c, even, 50);
    const auto b = values(c, even + 1, 50);
    for (std::size_t i = 0; i < a.size(); ++i) {
      ASSERT_GE(a[i], 7);
      ASSERT_LE(std::abs(a[i] + b[i]), low_bits);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Type,
    FloatInputTest,
    testing::Values(Type::f16, Type::bf16, Type::f32, Type::f64, Type::complex64, Type::complex128),
    tests::printed_name);

INSTANTIATE_TEST_SUITE_P(Type,
                         RealInputTest,
                         testing::Values(Type::f16, Type::bf16, Type::f32, Type::f64),
                         tests::printed_name);

class IntegerInputTest : public InputTypeTest {};

TEST_P(IntegerInputTest, SumsThatCannotOverflowDoNot) {
  const double limit = std::ldexp(1.0, spec::info(GetParam()).precision);
  int safe = 0;
  for_each_whole_case([&](const Case& c) {
    if (may_overflow(c)) return;
    ++safe;
    ASSERT_LT(largest_sum(c), limit) << to_text(c);
  });
  EXPECT_GT(safe, 100);
}

TEST_P(IntegerInputTest, ProductsThatCannotOverflowDoNot) {
  const double limit = std::ldexp(1.0, spec::info(GetParam()).precision);
  for (int ranks = 1; ranks <= ranks_max; ++ranks) {
    const Case c = make(GetParam(), ReduceOp::prod, InputKind::exact, ranks);
    ASSERT_FALSE(may_overflow(c));
    double product = 1;
    for (int rank = 0; rank < ranks; ++rank) product *= std::abs(values(c, rank, 1)[0]);
    ASSERT_LT(product, limit) << to_text(c);
  }
}

TEST_P(IntegerInputTest, ArbitrarySumsMayOverflow) {
  EXPECT_TRUE(may_overflow(make(GetParam(), ReduceOp::sum, InputKind::general)));
  EXPECT_TRUE(may_overflow(make(GetParam(), ReduceOp::prod, InputKind::special)));
}

TEST_P(IntegerInputTest, NothingOverflowsWhereNothingIsAdded) {
  for (const ReduceOp op : {ReduceOp::none,
                            ReduceOp::min,
                            ReduceOp::max,
                            ReduceOp::band,
                            ReduceOp::bxor,
                            ReduceOp::lor}) {
    EXPECT_FALSE(may_overflow(make(GetParam(), op, InputKind::special)));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Type,
    IntegerInputTest,
    testing::Values(Type::int8, Type::uint8, Type::int32, Type::uint32, Type::int64, Type::uint64),
    tests::printed_name);

}  // namespace
}  // namespace rankcheck::cases
