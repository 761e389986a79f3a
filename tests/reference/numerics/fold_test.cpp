#include "reference/numerics/fold.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numeric>
#include <ostream>
#include <vector>

#include <gtest/gtest.h>

#include "reference/spec/value_rules.hpp"

#include "tests/print.hpp"
#include "tests/reference/numerics/floats.hpp"

namespace rankcheck::tests {
namespace {

using numerics::Fold;
using numerics::NanRule;
using spec::ReduceOp;
using spec::Type;
constexpr double largest = std::numeric_limits<double>::max();
const double nan = std::nan("");

// --- integers: bits ---

struct IntegerFold {
  Type type;
  ReduceOp op;
  std::vector<double> in;
  double out;
  std::vector<double> scalars;

  friend void PrintTo(const IntegerFold& fold, std::ostream* out) {
    *out << testing::PrintToString(fold.type) << " " << testing::PrintToString(fold.op) << " of "
         << testing::PrintToString(fold.in);
  }
};

class IntegersTest : public testing::TestWithParam<IntegerFold> {};

INSTANTIATE_TEST_SUITE_P(
    ByHand,
    IntegersTest,
    testing::Values(
        IntegerFold{Type::int8, ReduceOp::sum, {100, 100}, -56, {}},
        IntegerFold{Type::int8, ReduceOp::avg, {100, 100}, -28, {}},
        IntegerFold{Type::int8, ReduceOp::avg, {-1, -2}, -1, {}},
        IntegerFold{Type::int8, ReduceOp::prod, {16, 16, 3}, 0, {}},
        IntegerFold{Type::int8, ReduceOp::min, {3, -128, 127}, -128, {}},
        IntegerFold{Type::uint8, ReduceOp::sum, {200, 100}, 44, {}},
        IntegerFold{Type::uint8, ReduceOp::avg, {200, 100}, 22, {}},
        IntegerFold{Type::uint8, ReduceOp::max, {3, 128, 127}, 128, {}},
        IntegerFold{Type::int32, ReduceOp::prod, {65536, 65537}, 65536, {}},
        IntegerFold{Type::int32, ReduceOp::premul_sum, {5, -7}, 1, {3, 2}},
        IntegerFold{Type::uint32, ReduceOp::avg, {0x1p31, 0x1p31, 6}, 2, {}},
        IntegerFold{Type::int64, ReduceOp::sum, {-0x1p63, -1024}, 0x1p63 - 1024, {}},
        IntegerFold{Type::int64, ReduceOp::avg, {-7, 0}, -3, {}},
        IntegerFold{Type::uint64, ReduceOp::max, {0x1p63, 1}, 0x1p63, {}},
        IntegerFold{Type::uint64, ReduceOp::avg, {0x1p63, 0}, 0x1p62, {}},
        IntegerFold{Type::uint8, ReduceOp::band, {14, 7, 255}, 6, {}},
        IntegerFold{Type::int8, ReduceOp::band, {-1, -128}, -128, {}},
        IntegerFold{Type::int32, ReduceOp::bor, {5, 6, 0}, 7, {}},
        IntegerFold{Type::int8, ReduceOp::bor, {-128, 1}, -127, {}},
        IntegerFold{Type::int8, ReduceOp::bxor, {3, 5, 6}, 0, {}},
        IntegerFold{Type::uint64, ReduceOp::bxor, {0x1p63, 0x1p62}, 0x1.8p63, {}},
        IntegerFold{Type::int32, ReduceOp::land, {1, 2}, 1, {}},
        IntegerFold{Type::int32, ReduceOp::land, {4, 0, 4}, 0, {}},
        IntegerFold{Type::int64, ReduceOp::lor, {0, 0x1p62}, 1, {}},
        IntegerFold{Type::uint8, ReduceOp::lor, {0, 0}, 0, {}},
        IntegerFold{Type::int8, ReduceOp::lxor, {2, 4}, 0, {}},
        IntegerFold{Type::int8, ReduceOp::lxor, {2, 4, -8}, 1, {}},
        IntegerFold{Type::int8, ReduceOp::lxor, {0, 7}, 1, {}},
        // x -> 2 x + 3, then x -> 5 x + 7, is x -> 10 x + 22.
        IntegerFold{Type::int32, ReduceOp::compose, {0x20003, 0x50007}, 0xa0016, {}},
        IntegerFold{Type::int64, ReduceOp::compose, {0x200000003, 0x500000007}, 0xa00000016, {}},
        // Then x -> x + 1.
        IntegerFold{Type::int32, ReduceOp::compose, {0x20003, 0x50007, 0x10001}, 0xa0017, {}},
        // 2 * 2^15 is 0, and -1 * 2^15 + 2 is 2^15 + 2, modulo 2^16.
        IntegerFold{Type::int32, ReduceOp::compose, {0x2ffff, -0x7ffffffe}, 0x8002, {}},
        // A single term is not combined with anything.
        IntegerFold{Type::int32, ReduceOp::lor, {5}, 5, {}}),
    printed_name);

TEST_P(IntegersTest, FoldToTheseBits) {
  const IntegerFold& each = GetParam();
  const auto expected = fold_of({each.type, each.op}, each.in, each.scalars).expected();
  EXPECT_TRUE(expected.as_bits);
  EXPECT_EQ(expected.bits, elements(each.type, std::vector{each.out}));
}

TEST(IntegersTest, SixtyFourBitsAreNotRounded) {
  const std::int64_t a = 9007199254740993;
  const auto* in = reinterpret_cast<const std::byte*>(&a);
  numerics::Expected expected;
  numerics::fold({.type = Type::int64, .op = ReduceOp::max}, {{in}}, {}, 1, expected);
  EXPECT_EQ(std::memcmp(expected.bits.data(), in, 8), 0);
}

// --- pairs of a value and its index ---

/// The expected pair of ranks that hold these pairs.
numerics::Expected located(ReduceOp op, const std::vector<std::complex<float>>& ranks) {
  std::vector<const std::byte*> in;
  for (const auto& each : ranks) in.push_back(reinterpret_cast<const std::byte*>(&each));
  numerics::Expected expected;
  numerics::fold({.type = Type::complex64, .op = op, .exact = true}, in, {}, 1, expected);
  return expected;
}

TEST(LocatedTest, TheLowestIndexOfEqualValuesIsExpected) {
  const auto greatest = located(ReduceOp::maxloc, {{2, 7}, {5, 9}, {5, 4}, {2, 3}, {5, 6}});
  EXPECT_EQ(greatest.high, (std::vector<double>{5, 4}));
  EXPECT_EQ(greatest.bound, (std::vector<double>{0, 0}));
  EXPECT_EQ(located(ReduceOp::minloc, {{2, 7}, {5, 9}, {2, 3}, {2, 4}}).high,
            (std::vector<double>{2, 3}));
}

TEST(LocatedTest, ZerosOfBothSignsAreEqual) {
  for (const ReduceOp op : {ReduceOp::maxloc, ReduceOp::minloc}) {
    EXPECT_EQ(located(op, {{0.0F, 8}, {-0.0F, 1}, {0.0F, 5}}).high[1], 1);
    EXPECT_EQ(located(op, {{-0.0F, 8}, {0.0F, 1}, {-0.0F, 5}}).high[1], 1);
  }
}

TEST(LocatedTest, NanIsNotCompared) {
  const auto expected = located(ReduceOp::maxloc, {{1, 2}, {std::nanf(""), 1}});
  const Fold rule{.type = Type::complex64, .op = ReduceOp::maxloc, .exact = true};
  EXPECT_FALSE(numerics::has_power(rule, expected, 0));
  EXPECT_FALSE(numerics::has_power(rule, expected, 1));
}

// --- floating point: by hand ---

TEST(SumTest, IsExactWhateverCancels) {
  const auto expected = fold_of({Type::f64}, {1e300, 1, -1e300}).expected();
  EXPECT_EQ(expected.high[0], 1);
  EXPECT_EQ(expected.low[0], 0);
  EXPECT_NEAR(expected.bound[0] / (2 * 0x1p-53 * 2e300), 1, 1e-12);
}

TEST(SumTest, BoundIsOneRoundingPerAddition) {
  const auto expected = fold_of({Type::f32}, {1, -2, 4, 8}).expected();
  EXPECT_EQ(expected.high[0], 11);
  EXPECT_NEAR(expected.bound[0] / (3 * 0x1p-24 * 15), 1, 1e-12);
}

TEST(SumTest, ComplexComponentsAreSeparate) {
  const SmallFold sum{{.type = Type::complex64, .exact = true}, {{1, 10}, {2, 20}}, {}};
  EXPECT_EQ(sum.compared({3, 30}).wrong, 0);
  EXPECT_EQ(sum.compared({30, 3}).wrong, 1);
  EXPECT_EQ(sum.compared({3, 31}).wrong, 1);
}

TEST(SumTest, HasTheseResultsAndNoOthers) {
  // One rank and exact inputs admit no error.
  expect_fold({Type::f32}, {1}, {}, {std::nextafterf(1, 2)});
  const Fold exact{.type = Type::f32, .exact = true};
  expect_fold(exact, {1, 2, 4}, {7}, {std::nextafterf(7, 8), std::nextafterf(7, 6)});
  // Zeros of both signs are equal.
  expect_fold(exact, {-0.0, -0.0}, {0.0}, {});
  expect_fold(exact, {1, -1}, {-0.0}, {});
  // NaN and infinities propagate.
  expect_fold({Type::f32}, {1, nan}, {nan}, {1});
  expect_fold({Type::f32}, {1, -infinity}, {-infinity}, {infinity, nan});
  expect_fold({Type::f32}, {infinity, -infinity}, {nan}, {infinity});
  // Subnormals are exact.
  expect_fold({Type::f64}, {5e-324, 5e-324, 5e-324}, {1.5e-323}, {1e-323});
}

TEST(SumTest, OverflowsToTheseResultsAndNoOthers) {
  // Overflow is infinite with its sign.
  expect_fold({Type::f16}, {-40000, -40000}, {-infinity}, {infinity, -65504, nan});
  // As the inputs each_special draw them.
  expect_fold({Type::f16}, {65504, 65504, 65504}, {infinity}, {65504, -infinity});
  // The exact sum is 65519, half a unit below overflow. Two roundings may carry it over.
  expect_fold({Type::f16}, {32768, 32736, 15}, {65504, infinity}, {-infinity});
  // Partial sums may overflow though the sum does not.
  expect_fold({Type::f16}, {60000, 60000, -60000}, {60000, infinity}, {-infinity, nan});
  expect_fold({Type::f16}, {60000, 60000, -60000, -60000}, {0, infinity, -infinity, nan}, {});
  // Exact sums overflow beyond the largest number only.
  const Fold exact{.type = Type::f16, .exact = true};
  expect_fold(exact, {32768, 32736}, {65504}, {infinity});
  expect_fold(exact, {32768, 32768}, {infinity}, {65504, -infinity});
  // Doubles may overflow, too.
  expect_fold({Type::f64}, {largest, largest}, {infinity}, {largest});
  expect_fold({Type::f64}, {largest, largest, -largest}, {largest, infinity}, {largest / 2, nan});
}

TEST(AvgTest, HasTheseResultsAndNoOthers) {
  const Fold single{Type::f32, ReduceOp::avg};
  const Fold wide{Type::f64, ReduceOp::avg};
  // NCCL gives these values: it multiplies by T(1/n) and sums from left to right.
  expect_fold(single, {1, 1, 7}, {3, 3.0000002F}, {3.00001F});
  expect_fold(single, {3, 3, 3, 3, 3, 3, 3}, {3.0000002F}, {});
  // The mean of one rank is the value.
  expect_fold(single, {3}, {3}, {3.0000002F});
  // It may overflow on the way.
  expect_fold(wide, {largest, largest, largest, largest}, {largest, infinity}, {largest / 2});
  // As the inputs each_special draw them.
  expect_fold({Type::f16, ReduceOp::avg}, {65504, 65504}, {infinity, 65504}, {32752});
  // If each term is premultiplied, 5e-324 / 2 rounds to zero. If the sum comes first, the mean is
  // 5e-324.
  expect_fold(wide, {5e-324, 5e-324}, {0, 5e-324}, {1e-322});
}

TEST(PremulSumTest, HasTheseResultsAndNoOthers) {
  // Each rank is multiplied by its scalar.
  const Fold exact{.type = Type::f32, .op = ReduceOp::premul_sum, .exact = true};
  expect_fold(exact, {1, 2, 3}, {3210}, {std::nextafterf(3210, 0)}, {10, 100, 1000});
  // One rank rounds once.
  const double two_units_off = std::nextafter(std::nextafter(0.1 * 0.3, 1), 1);
  expect_fold({Type::f64, ReduceOp::premul_sum}, {0.1}, {0.1 * 0.3}, {two_units_off}, {0.3});
  // Infinity times zero is NaN.
  expect_fold({Type::f32, ReduceOp::premul_sum}, {infinity, 1}, {nan}, {}, {0, 1});
  // Products of doubles may overflow.
  expect_fold({Type::f64, ReduceOp::premul_sum}, {1e200, 1}, {infinity}, {largest}, {1e200, 1});
}

TEST(ProdTest, BoundIsRelativeToTheProduct) {
  const auto expected = fold_of({Type::f32, ReduceOp::prod}, {3, -5, 7}).expected();
  EXPECT_EQ(expected.high[0], -105);
  EXPECT_NEAR(expected.bound[0] / (2 * 0x1p-24 * 105), 1, 1e-6);
}

TEST(ProdTest, HasTheseResultsAndNoOthers) {
  const Fold rule{Type::f32, ReduceOp::prod};
  expect_fold(rule, {0, nan}, {nan}, {});
  expect_fold(rule, {0, infinity}, {nan}, {0});
  expect_fold(rule, {-2, infinity}, {-infinity}, {nan});
  expect_fold(rule, {-2, 0}, {-0.0}, {1e-45F});
  // Partial products may overflow or underflow.
  expect_fold(rule, {1e30F, -1e30F, 0.5F}, {-infinity}, {infinity, nan});
  // 1e30 * 1e30 overflows and 1e-30 * 1e-30 underflows, so one tree multiplies infinity by zero.
  expect_fold(rule, {1e30F, 1e30F, 1e-30F, 1e-30F}, {1, 0, infinity, nan}, {-infinity});
  // Beyond double is infinite.
  expect_fold({Type::f64, ReduceOp::prod}, {1e200, 1e200}, {infinity}, {largest});
}

// --- min and max ---

TEST(ExtremesTest, AreExact) {
  expect_fold({Type::f32, ReduceOp::min}, {2, -3, 1}, {-3}, {std::nextafterf(-3, 0)});
  expect_fold({Type::bf16, ReduceOp::max}, {-infinity, 5, infinity}, {infinity}, {});
  expect_fold({Type::f64, ReduceOp::max}, {-0.0, 0.0}, {-0.0}, {});
}

TEST(ExtremesTest, NanFollowsTheRule) {
  for (std::size_t rank = 0; rank < 4; ++rank) {
    std::vector<double> in{7, 4, 4, 5};
    in[rank] = nan;
    expect_fold({Type::f32, ReduceOp::min, 1, NanRule::drops}, in, {4}, {nan});
    expect_fold({Type::f32, ReduceOp::min, 1, NanRule::propagates}, in, {nan}, {4});
    expect_fold({Type::f32, ReduceOp::min, 1, NanRule::either}, in, {4, nan}, {5, 7});
  }
}

TEST(ExtremesTest, WithoutANanRuleAnyContributionMayComeOut) {
  const Fold rule{Type::f32, ReduceOp::min, 1, NanRule::unspecified};
  expect_fold(rule, {4, nan, 7, infinity}, {4, nan, 7, infinity}, {5, -infinity});
  // Without NaN, there is only one right result.
  expect_fold(rule, {4, 7}, {}, {7});
}

TEST(ExtremesTest, OnlyNanIsNan) {
  for (const NanRule rule :
       {NanRule::drops, NanRule::propagates, NanRule::either, NanRule::unspecified}) {
    SCOPED_TRACE(static_cast<int>(rule));
    expect_fold({Type::f16, ReduceOp::max, 1, rule}, {nan, nan}, {nan}, {0});
  }
}

TEST(ExtremesTest, CandidatesBelongToTheirElement) {
  const auto a = elements(Type::f32, std::vector{nan, 1.0, nan});
  const auto b = elements(Type::f32, std::vector{2.0, 3.0, 4.0});
  const Fold rule{Type::f32, ReduceOp::min, 2, NanRule::unspecified};
  numerics::Expected expected;
  numerics::fold(rule, std::vector<const std::byte*>{a.data(), b.data()}, {}, 3, expected);
  numerics::Comparison comparison;
  numerics::compare(
      rule, expected, elements(rule.type, std::vector{2.0, 1.0, 2.0}).data(), 3, comparison);
  ASSERT_EQ(comparison.wrong, 1);
  EXPECT_EQ(comparison.differences[0].index, 2);
  EXPECT_EQ(comparison.any_input, 2);
}

// --- runs ---

TEST(RunsTest, LongerThanOneChunkAgreeWithSingleElements) {
  constexpr std::size_t count = 1000;
  Random random(3);
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod, ReduceOp::max, ReduceOp::avg}) {
    std::vector<std::vector<double>> values(3, std::vector<double>(count));
    std::vector<std::vector<std::byte>> buffers;
    std::vector<const std::byte*> in;
    for (auto& each : values) {
      for (double& x : each) x = rounded(Type::f32, random.unit());
      buffers.push_back(elements(Type::f32, each));
    }
    for (const auto& buffer : buffers) in.push_back(buffer.data());
    numerics::Expected all;
    numerics::fold({Type::f32, op, 3}, in, {}, count, all);
    for (const std::size_t i : {std::size_t{0}, std::size_t{255}, std::size_t{256}, count - 1}) {
      const auto one =
          fold_of({Type::f32, op}, {values[0][i], values[1][i], values[2][i]}).expected();
      EXPECT_EQ(all.high[i], one.high[0]);
      EXPECT_EQ(all.low[i], one.low[0]);
      EXPECT_EQ(all.bound[i], one.bound[0]);
    }
  }
}

TEST(RunsTest, NoElementsNeedNoMemory) {
  numerics::Expected expected;
  const std::vector<const std::byte*> in{nullptr, nullptr};
  for (const Type type : {Type::int8, Type::f32, Type::complex128}) {
    numerics::fold({type, ReduceOp::sum, 2}, in, {}, 0, expected);
    numerics::Comparison comparison;
    numerics::compare({type, ReduceOp::sum, 2}, expected, nullptr, 0, comparison);
    EXPECT_EQ(comparison.compared_bytes, 0);
  }
  numerics::expect_bits(nullptr, 0, expected);
  EXPECT_TRUE(expected.bits.empty());
}

TEST(RunsTest, ReuseForgetsTheLastOne) {
  numerics::Expected expected;
  numerics::expect_bits(reinterpret_cast<const std::byte*>("abcd"), 4, expected);
  const auto one = elements(Type::f32, std::vector{2.0});
  numerics::fold({Type::f32, ReduceOp::sum, 1}, {{one.data()}}, {}, 1, expected);
  EXPECT_FALSE(expected.as_bits);
  EXPECT_EQ(expected.high, std::vector{2.0});
}

}  // namespace
}  // namespace rankcheck::tests
