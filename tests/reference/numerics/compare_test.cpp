#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/reference/numerics/floats.hpp"

namespace rankcheck::tests {
namespace {

using numerics::Comparison;
using numerics::Expected;
using numerics::Fold;
using spec::ReduceOp;
using spec::Type;

Comparison moved(Type type, std::vector<double> expected, std::vector<double> got) {
  const auto wanted = elements(type, expected);
  Expected bits;
  numerics::expect_bits(wanted.data(), static_cast<std::int64_t>(wanted.size()), bits);
  const Fold rule{.type = type, .op = ReduceOp::none};
  const auto count = static_cast<std::int64_t>(expected.size()) / (is_complex(type) ? 2 : 1);
  Comparison comparison;
  numerics::compare(rule, bits, elements(type, got).data(), count, comparison);
  return comparison;
}

TEST(CompareTest, CountsBytesAndWrongElements) {
  const Comparison comparison = moved(Type::f32, {1, 2, 3}, {1, 5, 6});
  EXPECT_EQ(comparison.compared_bytes, 12);
  EXPECT_EQ(comparison.wrong, 2);
  ASSERT_EQ(comparison.differences.size(), 2U);
  EXPECT_EQ(comparison.differences[0].index, 1);
  EXPECT_EQ(comparison.differences[0].expected, "2");
  EXPECT_EQ(comparison.differences[0].got, "5");
  EXPECT_EQ(comparison.differences[0].error, 3);
}

TEST(IsSameButNaNTest, LooksAtEachComponent) {
  const auto is_same = [](std::uint64_t one, std::uint64_t other) {
    return numerics::is_same_but_nan(Type::complex64,
                                     reinterpret_cast<const std::byte*>(&one),
                                     reinterpret_cast<const std::byte*>(&other));
  };
  EXPECT_TRUE(is_same(0x3f800000'7fc00001, 0x3f800000'ffc00002));
  EXPECT_FALSE(is_same(0x3f800000'7fc00001, 0x3f800001'7fc00001)) << "other bits of a number";
  EXPECT_FALSE(is_same(0x3f800000'7fc00001, 0x3f800000'00000000)) << "a number for a NaN";
  EXPECT_FALSE(is_same(0x80000000'00000000, 0)) << "another sign of zero";
}

TEST(CompareTest, AddsToWhatIsThere) {
  Comparison comparison = moved(Type::int8, {1}, {2});
  Expected expected;
  const auto one = elements(Type::int8, std::vector{1.0});
  numerics::expect_bits(one.data(), 1, expected);
  numerics::compare({.type = Type::int8}, expected, one.data(), 1, comparison);
  EXPECT_EQ(comparison.compared_bytes, 2);
  EXPECT_EQ(comparison.wrong, 1);
}

TEST(CompareTest, KeepsTheFirstDifferencesOnly) {
  const std::vector<double> zeros(100, 0);
  const std::vector<double> ones(100, 1);
  const Comparison comparison = moved(Type::uint8, zeros, ones);
  EXPECT_EQ(comparison.wrong, 100);
  EXPECT_EQ(comparison.differences.size(), numerics::differences_max);
}

TEST(CompareTest, MovedBitsMustBeTheSameBits) {
  EXPECT_EQ(moved(Type::f32, {0.0}, {-0.0}).wrong, 1);
  EXPECT_EQ(moved(Type::f8e5m2, {1.25}, {1.25}).wrong, 0);
  EXPECT_EQ(moved(Type::complex64, {1, 2, 3, 4}, {1, 2, 3, 5}).wrong, 1);
}

TEST(CompareTest, SignsAreNoMatterOfMagnitudes) {
  EXPECT_EQ(moved(Type::f64, {2}, {-2}).wrong, 1);
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::avg, ReduceOp::prod, ReduceOp::max}) {
    const SmallFold fold = fold_of({Type::f32, op}, {2, 2});
    const double result = fold.expected().high[0];
    EXPECT_TRUE(fold.accepts(result)) << spec::name(op);
    EXPECT_FALSE(fold.accepts(-result)) << spec::name(op);
  }
  const SmallFold complex{{.type = Type::complex64}, {{1, 2}, {3, 4}}, {}};
  EXPECT_EQ(complex.compared({4, 6}).wrong, 0);
  EXPECT_EQ(complex.compared({4, -6}).wrong, 1);
  EXPECT_EQ(complex.compared({-4, 6}).wrong, 1);
}

TEST(CompareTest, NanPayloadsAreToldApart) {
  const std::array<std::uint32_t, 1> wanted{0x7fc00001};
  const std::array<std::uint32_t, 1> got{0x7fc00002};
  Expected expected;
  numerics::expect_bits(reinterpret_cast<const std::byte*>(wanted.data()), 4, expected);
  Comparison comparison;
  numerics::compare({.type = Type::f32, .op = ReduceOp::none},
                    expected,
                    reinterpret_cast<const std::byte*>(got.data()),
                    1,
                    comparison);
  ASSERT_EQ(comparison.wrong, 1);
  EXPECT_EQ(comparison.differences[0].expected, "nan (0x7fc00001)");
  EXPECT_EQ(comparison.differences[0].got, "nan (0x7fc00002)");
}

TEST(CompareTest, TellsWhatBecameOfASpecialValue) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto loss = [](const Comparison& comparison) { return comparison.differences.at(0).loss; };
  EXPECT_EQ(loss(moved(Type::f32, {nan}, {0.07})), numerics::Loss::nan);
  EXPECT_EQ(loss(moved(Type::f32, {1}, {nan})), numerics::Loss::none);
  EXPECT_EQ(loss(moved(Type::complex64, {1, 1e-40}, {1, 0})), numerics::Loss::subnormal);
  EXPECT_EQ(loss(moved(Type::bf16, {1e-39}, {1})), numerics::Loss::none);
  EXPECT_EQ(loss(moved(Type::f64, {1e-40}, {0})), numerics::Loss::none);
  EXPECT_EQ(loss(moved(Type::int32, {1}, {0})), numerics::Loss::none);
  // The smallest two subnormal numbers add up to another one.
  EXPECT_EQ(loss(fold_of({Type::bf16}, {0x1p-133, 0x1p-133}).compared({0})),
            numerics::Loss::subnormal);
}

TEST(CompareTest, ReportsTheLargestRatioOfRightElements) {
  const SmallFold sum = fold_of({Type::f32}, {1, 0x1p-24});
  const double bound = sum.expected().bound[0];
  EXPECT_DOUBLE_EQ(sum.compared({1}).ratio_max, 0x1p-24 / bound);
  EXPECT_EQ(fold_of({Type::f32}, {1, 2}).compared({3}).ratio_max, 0);
  EXPECT_EQ(fold_of({Type::f32, ReduceOp::max}, {1, 2}).compared({7}).ratio_max, 0);
  EXPECT_EQ(sum.compared({2}).wrong, 1);
  EXPECT_EQ(sum.compared({2}).ratio_max, 0);
}

TEST(CompareTest, WhatCannotBeWrongIsNotCounted) {
  // Depending on the order, every class of value can come out.
  const double most = 3.4028234663852886e38;
  EXPECT_EQ(fold_of({Type::f32}, {most, most, -most, -most}).compared({0}).compared_bytes, 0);
  // The subnormal partial product may be wrong, and is then multiplied beyond the range of floats.
  const SmallFold product = fold_of({Type::f32, ReduceOp::prod}, {1e-45, most, most, most});
  EXPECT_EQ(product.compared({0}).compared_bytes, 0);
  EXPECT_EQ(fold_of({Type::f32}, {1, 2}).compared({3}).compared_bytes, 4);
}

TEST(CompareTest, CountsTheComponentsThatCanBeWrong) {
  const double most = 3.4028234663852886e38;
  const SmallFold sum{
      {.type = Type::complex64}, {{most, 1}, {most, 1}, {-most, 1}, {-most, 1}}, {}};
  EXPECT_EQ(sum.compared({0, 4}).compared_bytes, 4);
}

TEST(CompareTest, WritesComplexElementsOnceAndWhole) {
  const SmallFold sum{{.type = Type::complex128, .exact = true}, {{1, 2}, {3, 4}}, {}};
  const Comparison comparison = sum.compared({5, 7});
  EXPECT_EQ(comparison.wrong, 1);
  ASSERT_EQ(comparison.differences.size(), 1U);
  EXPECT_EQ(comparison.differences[0].expected, "(4,6)");
  EXPECT_EQ(comparison.differences[0].got, "(5,7)");
}

TEST(CompareTest, IndexesBehindOneChunk) {
  const std::vector<double> x(1000, 1);
  std::vector<double> got(1000, 1);
  got[777] = 2;
  const auto in = elements(Type::f32, x);
  Expected expected;
  const Fold rule{.type = Type::f32};
  numerics::fold(rule, {{in.data()}}, {}, 1000, expected);
  Comparison comparison;
  numerics::compare(rule, expected, elements(Type::f32, got).data(), 1000, comparison);
  ASSERT_EQ(comparison.wrong, 1);
  EXPECT_EQ(comparison.differences[0].index, 777);
}

}  // namespace
}  // namespace rankcheck::tests
