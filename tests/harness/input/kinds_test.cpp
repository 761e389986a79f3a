#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "tests/harness/input/inputs.hpp"

namespace rankcheck::harness {
namespace {

using spec::ReduceOp;
using spec::Type;

TEST(SpecialInputTest, EveryClassOfFloatsAppears) {
  const auto all = values(make(Type::f32, ReduceOp::max, InputKind::special), 0, 2000);
  const auto some = [&](auto is) { return std::any_of(all.begin(), all.end(), is); };
  EXPECT_TRUE(some([](double x) { return std::isnan(x); }));
  for (const double sign : {1.0, -1.0}) {
    EXPECT_TRUE(some([&](double x) { return x == sign * HUGE_VAL; }));
    EXPECT_TRUE(some([&](double x) { return x == sign * std::numeric_limits<float>::max(); }));
    EXPECT_TRUE(some([&](double x) { return x == 0 && std::signbit(x) == (sign < 0); }));
    EXPECT_TRUE(some(
        [&](double x) { return x * sign > 0 && std::abs(x) < std::numeric_limits<float>::min(); }));
  }
}

TEST(SpecialInputTest, BothEndsOfIntegersAppear) {
  const auto all = values(make(Type::int32, ReduceOp::max, InputKind::special), 0, 200);
  EXPECT_EQ(std::set<double>(all.begin(), all.end()),
            (std::set<double>{0, 1, -1, -2147483648.0, 2147483647, -2147483647}));
}

TEST(InputKindTest, SomeAreForSumsOfFloats) {
  for (const InputKind kind : {InputKind::cancelling, InputKind::wide_range}) {
    EXPECT_TRUE(is_defined(kind, Type::f16, ReduceOp::sum));
    EXPECT_TRUE(is_defined(kind, Type::complex64, ReduceOp::sum));
    EXPECT_FALSE(is_defined(kind, Type::int32, ReduceOp::sum));
    EXPECT_FALSE(is_defined(kind, Type::f32, ReduceOp::prod));
    EXPECT_FALSE(is_defined(kind, Type::f32, ReduceOp::none));
  }
}

TEST(InputKindTest, EightBitFloatsHaveNoExactInputs) {
  EXPECT_FALSE(is_defined(InputKind::exact, Type::f8e4m3, ReduceOp::none));
  EXPECT_TRUE(is_defined(InputKind::coded, Type::f8e4m3, ReduceOp::none));
}

TEST(ExactTest, IntegersAndOrderFreeOpsAlwaysAre) {
  EXPECT_TRUE(is_exact(make(Type::int8, ReduceOp::sum, InputKind::general)));
  EXPECT_TRUE(is_exact(make(Type::f32, ReduceOp::max, InputKind::special)));
  EXPECT_TRUE(is_exact(make(Type::f32, ReduceOp::none, InputKind::general)));
}

TEST(ExactTest, GeneralSumsOfFloatsAreNot) {
  for (const InputKind kind : {InputKind::general,
                               InputKind::cancelling,
                               InputKind::wide_range,
                               InputKind::special,
                               InputKind::previous}) {
    EXPECT_FALSE(is_exact(make(Type::f32, ReduceOp::sum, kind))) << name(kind);
  }
}

TEST(ExactTest, AveragesAreWhereTheGroupIsAPowerOfTwo) {
  Case c = make(Type::f32, ReduceOp::avg, InputKind::exact, 3);
  EXPECT_FALSE(is_exact(c));
  c.group = {2, 0};
  EXPECT_TRUE(is_exact(c));
}

}  // namespace
}  // namespace rankcheck::harness
