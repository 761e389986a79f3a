#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference/numerics/fold.hpp"
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

class CodedInputTest : public testing::TestWithParam<Type> {};

TEST_P(CodedInputTest, NoTwoRanksHoldTheSameExtreme) {
  const std::int64_t count = 8;
  for (int ranks = 1; ranks <= ranks_max; ++ranks) {
    const Case c = make(GetParam(), ReduceOp::max, InputKind::coded, ranks);
    std::vector<std::set<double>> seen(spec::to_size(count));
    for (int rank = 0; rank < ranks; ++rank) {
      const std::vector<double> each = values(c, rank, count);
      for (std::size_t i = 0; i < each.size(); ++i) {
        ASSERT_TRUE(seen[i].insert(each[i]).second) << to_text(c) << " rank " << rank;
      }
    }
  }
}

/// Every rank shows in some element, each in its own digit.
TEST_P(CodedInputTest, SumsDecode) {
  for (const int ranks : {1, 3, 17, 64}) {
    const Case c = make(GetParam(), ReduceOp::sum, InputKind::coded, ranks);
    std::vector<double> sums(spec::to_size(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
      const std::vector<double> each = values(c, rank, ranks);
      for (std::size_t i = 0; i < each.size(); ++i) sums[i] += each[i];
    }
    for (int rank = 0; rank < ranks; ++rank) {
      const std::vector<double> each = values(c, rank, ranks);
      const auto shown = std::find_if(each.begin(), each.end(), [](double x) { return x > 0; });
      ASSERT_NE(shown, each.end()) << to_text(c) << " rank " << rank;
      const auto index = spec::to_size(shown - each.begin());
      const auto decoded = [&](double got) {
        Bytes bits(2 * bytes_of(c));
        numerics::from_double(c.type, sums[index], bits.data());
        numerics::from_double(c.type, got, bits.data() + bytes_of(c));
        return decode_sum(c, index, bits.data(), bits.data() + bytes_of(c));
      };
      const std::string name = "rank " + std::to_string(rank);
      ASSERT_EQ(decoded(sums[index]), "");
      ASSERT_EQ(decoded(sums[index] - *shown), name + " missing");
      ASSERT_EQ(decoded(sums[index] + *shown), name + " twice");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Type,
                         CodedInputTest,
                         testing::Values(Type::int8,
                                         Type::uint8,
                                         Type::int32,
                                         Type::uint32,
                                         Type::int64,
                                         Type::uint64,
                                         Type::f16,
                                         Type::bf16,
                                         Type::f32,
                                         Type::f64),
                         tests::printed_name);

TEST(CodedMoveTest, NoTwoElementsAreEqual) {
  for (const Type type : {Type::int32, Type::uint64, Type::f32, Type::f64, Type::complex64}) {
    const Case c = make(type, ReduceOp::none, InputKind::coded, ranks_max);
    std::set<double> seen;
    std::size_t size = 0;
    for (int rank = 0; rank < ranks_max; ++rank) {
      const std::vector<double> each = values(c, rank, 50);
      seen.insert(each.begin(), each.end());
      size += each.size();
    }
    EXPECT_EQ(seen.size(), size) << spec::name(type);
  }
}

/// More ranks than the digits of a float can name: the elements are hashes.
TEST(CodedMoveTest, ManyRanksHaveDifferentElements) {
  const Case c = make(Type::f32, ReduceOp::none, InputKind::coded, 4096);
  std::set<std::string> seen;
  for (const int rank : {0, 127, 128, 1000, 4095}) {
    for (int i = 0; i < 50; ++i) {
      Bytes element(bytes_of(c));
      fill_block(c, rank, 0, {i, 1}, element.data());
      seen.insert(hexadecimal(element));
    }
  }
  EXPECT_EQ(seen.size(), 5U * 50U);
}

TEST(CodedInputTest, ExtremesOfManyRanksAreWholeNumbersThatTheTypeHas) {
  const Case c = make(Type::bf16, ReduceOp::max, InputKind::coded, 1000);
  std::set<double> seen;
  for (int rank = 0; rank < c.ranks; ++rank) {
    for (const double each : values(c, rank, 3)) seen.insert(each);
  }
  EXPECT_EQ(seen.size(), 256U);
  EXPECT_EQ(*seen.rbegin(), 255);
}

std::string decode_f32(const Case& c, float expected, float got) {
  Bytes bits(8);
  std::memcpy(bits.data(), &expected, 4);
  std::memcpy(bits.data() + 4, &got, 4);
  return decode_sum(c, 0, bits.data(), bits.data() + 4);
}

/// Returns the sum of three ranks whose digits are d0, d1, d2.
float sum_of(const Case& c) {
  double sum = 0;
  for (int rank = 0; rank < c.ranks; ++rank) sum += values(c, rank, 1)[0];
  return static_cast<float>(sum);
}

TEST(DecodeTest, SeveralRanksAreNamedInOrder) {
  const Case c = make(Type::f32, ReduceOp::sum, InputKind::coded);
  const auto one = static_cast<float>(values(c, 1, 1)[0]);
  const auto two = static_cast<float>(values(c, 2, 1)[0]);
  EXPECT_EQ(decode_f32(c, sum_of(c), sum_of(c) - one + two), "rank 1 missing, rank 2 twice");
}

TEST(DecodeTest, AnotherDigitIsShown) {
  const Case c = make(Type::f32, ReduceOp::sum, InputKind::coded);
  const auto digit = static_cast<int>(values(c, 0, 1)[0]);
  EXPECT_EQ(decode_f32(c, sum_of(c), sum_of(c) - static_cast<float>(digit) + 7.0F),
            "rank 0 shows 7 for " + std::to_string(digit));
}

TEST(DecodeTest, RotatedInputsNameTheRankThatHoldsThem) {
  Case c = make(Type::f32, ReduceOp::sum, InputKind::coded);
  c.rotate = 2;
  const auto one = static_cast<float>(values(c, 1, 1)[0]);
  EXPECT_EQ(decode_f32(c, sum_of(c), sum_of(c) - one), "rank 1 missing");
}

TEST(DecodeTest, NoSumOfCodesMeansNothing) {
  const Case c = make(Type::f32, ReduceOp::sum, InputKind::coded);
  for (const float got : {-1.0F,
                          0.5F,
                          1e30F,
                          1e-30F,
                          std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_EQ(decode_f32(c, sum_of(c), got), "") << got;
  }
}

/// Decodes the combination of three ranks' bits if rank 1 has none (`neutral`) in it.
std::string decode_without_rank_1(ReduceOp op, Type type, double neutral) {
  const Case c = make(type, op, InputKind::coded);
  const auto combine = [&](double a, double b) {
    const auto x = static_cast<std::int64_t>(a);
    const auto y = static_cast<std::int64_t>(b);
    if (op == ReduceOp::band) return static_cast<double>(x & y);
    return static_cast<double>(op == ReduceOp::bor ? x | y : x ^ y);
  };
  const double others = combine(values(c, 0, 1)[0], values(c, 2, 1)[0]);
  Bytes bits(2 * bytes_of(c));
  numerics::from_double(type, combine(others, values(c, 1, 1)[0]), bits.data());
  numerics::from_double(type, combine(others, neutral), bits.data() + bytes_of(c));
  return decode_sum(c, 0, bits.data(), bits.data() + bytes_of(c));
}

TEST(DecodeTest, BitsOfARankAreMissing) {
  EXPECT_EQ(decode_without_rank_1(ReduceOp::bor, Type::int32, 0), "rank 1 missing");
  EXPECT_EQ(decode_without_rank_1(ReduceOp::bxor, Type::uint32, 0), "rank 1 missing or twice");
  EXPECT_EQ(decode_without_rank_1(ReduceOp::band, Type::int32, -1), "rank 1 missing");
  EXPECT_EQ(decode_without_rank_1(ReduceOp::band, Type::uint32, 4294967295.0), "rank 1 missing");
}

/// Without a rank whose input decides, an and or an or would never show that a rank is missing.
TEST(LogicInputTest, TwoRanksDecideEachElement) {
  constexpr std::int64_t count = 50;
  for (const ReduceOp op : {ReduceOp::band, ReduceOp::bor, ReduceOp::land, ReduceOp::lor}) {
    const Case c = make(Type::int64, op, InputKind::general, 8);
    std::vector<int> neutral(count);
    for (int rank = 0; rank < 8; ++rank) {
      const std::vector<double> each = values(c, rank, count);
      for (std::size_t i = 0; i < each.size(); ++i) {
        const bool is_neutral = op == ReduceOp::band   ? each[i] == -1
                                : op == ReduceOp::land ? each[i] != 0
                                                       : each[i] == 0;
        neutral[i] += is_neutral ? 1 : 0;
      }
    }
    EXPECT_GE(*std::min_element(neutral.begin(), neutral.end()), 6) << spec::name(op);
    EXPECT_LT(std::count(neutral.begin(), neutral.end(), 8), count) << spec::name(op);
  }
}

TEST(DecodeTest, OnlyCodedSumsDecode) {
  for (const Case& c : {make(Type::f32, ReduceOp::sum, InputKind::exact),
                        make(Type::f32, ReduceOp::max, InputKind::coded),
                        make(Type::complex64, ReduceOp::sum, InputKind::coded)}) {
    EXPECT_EQ(decode_f32(c, 1, 0), "") << to_text(c);
  }
}

}  // namespace
}  // namespace rankcheck::cases
