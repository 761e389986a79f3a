#include <algorithm>
#include <cmath>
#include <numeric>
#include <ostream>
#include <vector>

#include <gtest/gtest.h>

#include "tests/print.hpp"
#include "tests/reference/numerics/floats.hpp"

/// The bounds must accept the results of correct subjects and reject wrong results.
namespace rankcheck::tests {
namespace {

using numerics::Fold;
using spec::ReduceOp;
using spec::Type;

enum class Data { uniform, wide, cancelling, tiny, huge };

double sample(Random& random, Data data, Type type) {
  const bool small_range = type == Type::f16;
  const int spread = small_range ? 20 : 200;
  const double x = random.unit();
  switch (data) {
    case Data::uniform:
      return x;
    case Data::wide:
      return std::ldexp(
          x, static_cast<int>(random.below(static_cast<std::size_t>(spread))) - spread / 2);
    case Data::cancelling:
      return (random.bits() & 1) != 0 ? 1000 + x : -1000 + x;
    case Data::tiny:
      return x * std::ldexp(1, spec::info(type).exponent_min + 2);
    default:
      return x * std::ldexp(1, spec::info(type).exponent_max - 1);
  }
}

/// Returns one correct operation in the type: the exact result of two elements, or nearly so,
/// rounded.
double combined(Type type, ReduceOp op, double a, double b) {
  if (type == Type::f32) {
    const auto x = static_cast<float>(a);
    const auto y = static_cast<float>(b);
    return op == ReduceOp::prod ? x * y : x + y;
  }
  return rounded(type, op == ReduceOp::prod ? a * b : a + b);
}

/// Combines two random values again and again, so that every order and every tree may occur.
double random_tree(Random& random, Type type, ReduceOp op, std::vector<double> values) {
  while (values.size() > 1) {
    std::swap(values[random.below(values.size())], values.back());
    const double a = values.back();
    values.pop_back();
    double& b = values[random.below(values.size())];
    b = combined(type, op, a, b);
  }
  return values[0];
}

/// Returns what a correct subject may return: avg in both ways, products rounded one by one.
double honest_result(Random& random, Fold rule, std::vector<double> x, double scalar) {
  const auto n = static_cast<double>(x.size());
  if (rule.op == ReduceOp::premul_sum) {
    for (double& each : x) each = rounded(rule.type, each * scalar);
  }
  const bool premultiply = rule.op == ReduceOp::avg && (random.bits() & 1) != 0;
  if (premultiply) {
    const double inverse = rounded(rule.type, 1 / n);
    for (double& each : x) each = rounded(rule.type, each * inverse);
  }
  const double result = random_tree(random, rule.type, rule.op, std::move(x));
  const bool divide = rule.op == ReduceOp::avg && !premultiply;
  return divide ? rounded(rule.type, result / n) : result;
}

struct Kind {
  Type type;
  ReduceOp op;

  friend void PrintTo(const Kind& each, std::ostream* out) {
    *out << spec::name(each.type) << " " << spec::name(each.op);
  }
};

class BoundsTest : public testing::TestWithParam<Kind> {};

std::vector<Kind> kinds() {
  std::vector<Kind> out;
  for (const Type type : {Type::f16, Type::bf16, Type::f32, Type::f64}) {
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::avg, ReduceOp::premul_sum, ReduceOp::prod}) {
      out.push_back({type, op});
    }
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(All, BoundsTest, testing::ValuesIn(kinds()), printed_name);

TEST_P(BoundsTest, AcceptEveryOrderOfEvaluation) {
  const Fold rule{GetParam().type, GetParam().op};
  Random random(11);
  double ratio_max = 0;
  for (int round = 0; round < 600; ++round) {
    const auto data = static_cast<Data>(round % 5);
    std::vector<double> x(1 + random.below(9));
    for (double& each : x) each = rounded(rule.type, sample(random, data, rule.type));
    const double scalar = rounded(rule.type, 3 * random.unit());
    const SmallFold fold = fold_of(rule, x, std::vector<double>(x.size(), scalar));
    const double got = honest_result(random, rule, x, scalar);
    const numerics::Comparison comparison = fold.compared({got});
    ASSERT_EQ(comparison.wrong, 0) << testing::PrintToString(x) << " gave " << got;
    ratio_max = std::max(ratio_max, comparison.ratio_max);
  }
  // A bound that no result comes close to would be of little use.
  EXPECT_GT(ratio_max, 0.2);
}

TEST_P(BoundsTest, RejectWhatLiesJustBeyond) {
  const Fold rule{GetParam().type, GetParam().op};
  Random random(12);
  for (int round = 0; round < 50; ++round) {
    std::vector<double> x(2 + random.below(7));
    for (double& each : x) each = rounded(rule.type, 1 + random.unit() / 2);
    const SmallFold fold = fold_of(rule, x, std::vector<double>(x.size(), 1.5));
    const numerics::Expected expected = fold.expected();
    const double unit =
        std::ldexp(std::fabs(expected.high[0]), 2 - spec::info(rule.type).precision);
    for (const double side : {-1.0, 1.0}) {
      const double beyond = expected.high[0] + side * (expected.bound[0] + unit);
      EXPECT_FALSE(fold.accepts(rounded(rule.type, beyond)));
    }
    for (const double each : {std::nan(""), infinity, -infinity}) {
      EXPECT_FALSE(fold.accepts(each)) << each;
    }
  }
}

/// Returns the bound of a fold of 1, 2 and 3 in f32, in units of the roundoff. The scalars of
/// premul_sum are 1.5.
double bound_of_three(ReduceOp op) {
  return fold_of({Type::f32, op}, {1, 2, 3}, {1.5, 1.5, 1.5}).expected().bound[0] / 0x1p-24;
}

TEST(BoundsOfSumsTest, AreAsTheTheoremsSay) {
  constexpr double nearly = 1e-5;
  EXPECT_NEAR(bound_of_three(ReduceOp::sum), 2 * (1 + 2 + 3), nearly);
  EXPECT_NEAR(bound_of_three(ReduceOp::premul_sum), 3 * 1.5 * (1 + 2 + 3), nearly);
  EXPECT_NEAR(bound_of_three(ReduceOp::avg), 4.0 * (1 + 2 + 3) / 3, nearly);
  EXPECT_NEAR(bound_of_three(ReduceOp::prod), 2 * (1 * 2 * 3), nearly);
}

TEST(BoundsOfSumsTest, CatchAForgottenRankOfManyHalves) {
  std::vector<double> x(16, 1);
  x[7] = 0.125;
  expect_fold({Type::f16}, x, {15.125}, {15});
}

TEST(BoundsOfSumsTest, StaySoundWhereRoundingsExceedOne) {
  // bf16 keeps 8 bits: from left to right, the sum of 1000 ones stops at 256.
  expect_fold({Type::bf16}, std::vector<double>(1000, 1), {256, 1000}, {infinity});
}

}  // namespace
}  // namespace rankcheck::tests
