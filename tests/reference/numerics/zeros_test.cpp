#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference/spec/value_rules.hpp"

#include "tests/print.hpp"
#include "tests/reference/numerics/floats.hpp"

namespace rankcheck::tests {
namespace {

using numerics::Fold;
using numerics::NanRule;
using numerics::ZeroRule;
using spec::ReduceOp;
using spec::Type;

/// A reduction to zero, and the signs that its result may have.
struct ZeroFold {
  std::string name;
  ReduceOp op;
  std::vector<double> in;
  bool admits_positive;
  bool admits_negative;
  std::vector<double> scalars = {};
  bool exact = false;

  friend void PrintTo(const ZeroFold& fold, std::ostream* out) { *out << fold.name; }
};

class ZeroTest : public testing::TestWithParam<ZeroFold> {
 protected:
  [[nodiscard]] bool accepts(double got, ZeroRule zero_rule) const {
    const ZeroFold& each = GetParam();
    const Fold rule{.type = Type::f16, .op = each.op, .zero_rule = zero_rule, .exact = each.exact};
    return fold_of(rule, each.in, each.scalars).accepts(got);
  }
};

TEST_P(ZeroTest, HaveTheSignThatTheInputsDecide) {
  EXPECT_EQ(accepts(0.0, ZeroRule::ieee), GetParam().admits_positive);
  EXPECT_EQ(accepts(-0.0, ZeroRule::ieee), GetParam().admits_negative);
}

TEST_P(ZeroTest, AreEqualWithoutARule) {
  EXPECT_TRUE(accepts(0.0, ZeroRule::unspecified));
  EXPECT_TRUE(accepts(-0.0, ZeroRule::unspecified));
}

INSTANTIATE_TEST_SUITE_P(
    ByHand,
    ZeroTest,
    testing::Values(
        ZeroFold{"sum_of_one", ReduceOp::sum, {-0.0}, false, true},
        ZeroFold{"sum_of_negative_zeros", ReduceOp::sum, {-0.0, -0.0, -0.0}, false, true},
        ZeroFold{"sum_of_both_zeros", ReduceOp::sum, {-0.0, 0.0, -0.0}, true, false},
        ZeroFold{"sum_of_two_that_cancel", ReduceOp::sum, {1.5, -1.5}, true, false},
        // Some orders round before they cancel, to either side.
        ZeroFold{"sum_of_four_that_cancel", ReduceOp::sum, {1.5, -1.5, 2.5, -2.5}, true, true},
        ZeroFold{
            "exact_sum_of_four_that_cancel", ReduceOp::sum, {1, -1, 2, -2}, true, false, {}, true},
        ZeroFold{"mean_of_negative_zeros", ReduceOp::avg, {-0.0, -0.0}, false, true},
        ZeroFold{"mean_of_both_zeros", ReduceOp::avg, {-0.0, 0.0, 0.0}, true, false},
        ZeroFold{
            "scaled_to_negative_zeros", ReduceOp::premul_sum, {0.0, -0.0}, false, true, {-2, 1}},
        ZeroFold{"scaled_to_both_zeros", ReduceOp::premul_sum, {0.0, -0.0}, true, false, {-2, -1}},
        ZeroFold{"scaled_before_they_cancel", ReduceOp::premul_sum, {1, -1}, true, true, {2, 2}},
        ZeroFold{"product_of_a_negative_zero", ReduceOp::prod, {-0.0, 3}, false, true},
        ZeroFold{"product_of_two_negative_factors", ReduceOp::prod, {-0.0, -3}, true, false},
        ZeroFold{"min_of_negative_zeros", ReduceOp::min, {-0.0, -0.0}, false, true},
        ZeroFold{"max_of_a_negative_zero_and_less", ReduceOp::max, {-0.0, -4}, false, true},
        ZeroFold{"max_of_both_zeros", ReduceOp::max, {0.0, -0.0}, true, true}),
    printed_name);

TEST(ZerosTest, AreReadWithTheirSign) {
  const Fold rule{.type = Type::f32, .op = ReduceOp::sum, .zero_rule = ZeroRule::ieee};
  const auto comparison = fold_of(rule, {-0.0, -0.0}).compared({0.0});
  ASSERT_EQ(comparison.differences.size(), 1U);
  EXPECT_EQ(comparison.differences[0].expected, "-0");
  EXPECT_EQ(comparison.differences[0].got, "0");
}

TEST(ZerosTest, OfEitherPartOfAComplexNumber) {
  const Fold rule{.type = Type::complex64, .op = ReduceOp::sum, .zero_rule = ZeroRule::ieee};
  const SmallFold fold{rule, {{1, -0.0}, {2, -0.0}}, {}};
  EXPECT_EQ(fold.compared({3, -0.0}).wrong, 0);
  EXPECT_EQ(fold.compared({3, 0.0}).wrong, 1);
}

TEST(ZerosTest, AnyContributionIsRightWhereNanHasNoRule) {
  const Fold rule{.type = Type::f32,
                  .op = ReduceOp::max,
                  .nan_rule = NanRule::unspecified,
                  .zero_rule = ZeroRule::ieee};
  expect_fold(rule, {-0.0, std::numeric_limits<double>::quiet_NaN()}, {0.0, -0.0}, {});
}

}  // namespace
}  // namespace rankcheck::tests
