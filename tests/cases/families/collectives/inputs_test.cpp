#include "cases/families/collectives/inputs.hpp"

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
#include "tests/cases/families/collectives/inputs.hpp"
#include "tests/print.hpp"

namespace rankcheck::cases {
namespace {

using harness::Case;
using harness::fill_poison;
using harness::InputKind;
using harness::to_text;
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

/// Returns the bits of elements of up to eight bytes.
std::vector<std::uint64_t> bits_of(const Case& c, int rank, std::int64_t count) {
  const Bytes bytes = elements(c, rank, count);
  std::vector<std::uint64_t> bits(spec::to_size(count));
  for (std::size_t i = 0; i < bits.size(); ++i) {
    std::memcpy(&bits[i], bytes.data() + i * bytes_of(c), bytes_of(c));
  }
  return bits;
}

/// Eight consecutive elements of moved data have every special value, wherever they begin.
TEST(EachSpecialInputTest, EightElementsHaveEverySpecialValue) {
  for (const Type type : {Type::f16, Type::bf16, Type::f32, Type::f64, Type::f8e5m2}) {
    const spec::TypeInfo& info = spec::info(type);
    const std::uint64_t sign = std::uint64_t{1} << (8 * info.bytes - 1);
    const std::uint64_t hidden = std::uint64_t{1} << (info.precision - 1);
    const std::uint64_t infinity = sign - hidden;
    for (int rank = 0; rank < 3; ++rank) {
      Case c = make(type, ReduceOp::none, InputKind::each_special);
      collective(c).first_index = 5;
      const auto all = bits_of(c, rank, special_values);
      const auto some = [&](auto is) { return std::any_of(all.begin(), all.end(), is); };
      const auto magnitude = [&](std::uint64_t bits) { return bits & ~sign; };
      EXPECT_TRUE(some([&](auto bits) { return bits == sign; })) << "-0";
      EXPECT_TRUE(some([&](auto bits) { return bits == infinity; })) << "inf";
      EXPECT_TRUE(some([&](auto bits) { return bits == (sign | infinity); })) << "-inf";
      EXPECT_TRUE(some([&](auto bits) { return magnitude(bits) == infinity - 1; })) << "largest";
      EXPECT_TRUE(some([&](auto bits) { return magnitude(bits) > 0 && magnitude(bits) < hidden; }))
          << "subnormal";
      const std::uint64_t quiet = infinity | hidden / 2;
      EXPECT_TRUE(some([&](auto bits) { return magnitude(bits) > quiet; })) << "payload";
      EXPECT_TRUE(some([&](auto bits) {
        return magnitude(bits) > infinity && magnitude(bits) < quiet;
      })) << "signalling";
    }
  }
}

TEST(EachSpecialInputTest, ReductionsHaveNoSignallingNan) {
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max}) {
    for (int rank = 0; rank < 3; ++rank) {
      const Case c = make(Type::f32, op, InputKind::each_special);
      for (const std::uint64_t bits : bits_of(c, rank, 100)) {
        const std::uint64_t magnitude = bits & 0x7fffffffU;
        EXPECT_FALSE(magnitude > 0x7f800000U && magnitude < 0x7fc00000U) << std::hex << bits;
      }
    }
  }
}

TEST(LocatedInputTest, ValuesAreEqualOftenAndTheirIndicesDiffer) {
  for (const InputKind kind :
       {InputKind::exact, InputKind::coded, InputKind::general, InputKind::special}) {
    const Case c = make(Type::complex64, ReduceOp::maxloc, kind, 3);
    const auto a = values(c, 0, 200);
    const auto b = values(c, 1, 200);
    int ties = 0;
    for (std::size_t i = 0; i < a.size(); i += 2) {
      EXPECT_FALSE(std::isnan(a[i]));
      ties += a[i] == b[i] ? 1 : 0;
      EXPECT_NE(a[i + 1], b[i + 1]);
    }
    EXPECT_GT(ties, 20);
    EXPECT_LT(ties, 180);
  }
}

TEST(MapInputTest, FactorsAreOdd) {
  const Case c = make(Type::int32, ReduceOp::compose, InputKind::general);
  for (const double value : values(c, 1, 200)) {
    EXPECT_NE((static_cast<std::int64_t>(value) >> 16) & 1, 0);
  }
}

TEST(InputKindTest, SomeAreForSumsOrFloatsAlone) {
  for (const InputKind kind : {InputKind::cancelling, InputKind::wide_range}) {
    EXPECT_TRUE(is_defined(kind, Type::f16, ReduceOp::sum));
    EXPECT_TRUE(is_defined(kind, Type::complex64, ReduceOp::sum));
    EXPECT_FALSE(is_defined(kind, Type::int32, ReduceOp::sum));
    EXPECT_FALSE(is_defined(kind, Type::f32, ReduceOp::prod));
    EXPECT_FALSE(is_defined(kind, Type::f32, ReduceOp::none));
  }
  EXPECT_FALSE(is_defined(InputKind::wide_range, Type::complex64, ReduceOp::minloc));
  EXPECT_TRUE(is_defined(InputKind::edge, Type::f16, ReduceOp::sum));
  EXPECT_FALSE(is_defined(InputKind::edge, Type::f16, ReduceOp::avg));
  EXPECT_FALSE(is_defined(InputKind::edge, Type::int32, ReduceOp::sum));
  EXPECT_TRUE(is_defined(InputKind::each_special, Type::f8e4m3, ReduceOp::none));
  EXPECT_TRUE(is_defined(InputKind::each_special, Type::complex64, ReduceOp::sum));
  EXPECT_FALSE(is_defined(InputKind::each_special, Type::int32, ReduceOp::none));
  EXPECT_FALSE(is_defined(InputKind::each_special, Type::complex64, ReduceOp::maxloc));
  // Eight-bit floats have no exact inputs.
  EXPECT_FALSE(is_defined(InputKind::exact, Type::f8e4m3, ReduceOp::none));
  EXPECT_TRUE(is_defined(InputKind::coded, Type::f8e4m3, ReduceOp::none));
}

/// The sums are -2, -1, 0 or 1 steps of the type from its largest number.
TEST(EdgeInputTest, SumsReachTheLargestNumberAndOneStepMore) {
  for (const Type type : {Type::f16, Type::bf16, Type::f32}) {
    const spec::TypeInfo& info = spec::info(type);
    const double step = std::ldexp(1, info.exponent_max - info.precision + 1);
    const double largest = step * (std::ldexp(1, info.precision) - 1);
    for (const int ranks : {2, 3, 8, 64}) {
      const Case c = make(type, ReduceOp::sum, InputKind::edge, ranks);
      std::vector<double> sums(200);
      for (int rank = 0; rank < ranks; ++rank) {
        const std::vector<double> each = values(c, rank, 200);
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += each[i];
      }
      std::set<double> distances;
      for (const double sum : sums) distances.insert((std::abs(sum) - largest) / step);
      EXPECT_EQ(distances, (std::set<double>{-2, -1, 0, 1})) << spec::name(type) << ranks;
      EXPECT_TRUE(is_exact(c));
    }
  }
}

TEST(ExactTest, IntegersAndOrderFreeOpsAlwaysAre) {
  EXPECT_TRUE(is_exact(make(Type::int8, ReduceOp::sum, InputKind::general)));
  EXPECT_TRUE(is_exact(make(Type::f32, ReduceOp::max, InputKind::special)));
  EXPECT_TRUE(is_exact(make(Type::f32, ReduceOp::none, InputKind::general)));
  EXPECT_TRUE(is_exact(make(Type::int64, ReduceOp::land, InputKind::general)));
}

TEST(ExactTest, GeneralSumsOfFloatsAreNot) {
  for (const InputKind kind : {InputKind::general,
                               InputKind::cancelling,
                               InputKind::wide_range,
                               InputKind::special,
                               InputKind::each_special,
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

/// The two parts of a block together equal the whole block if `index_stride` is the whole's length.
TEST(InputIndexTest, PartsAreTheWhole) {
  for (const Type type : {Type::uint8, Type::f32, Type::complex128}) {
    Case c = make(type, ReduceOp::none, InputKind::general);
    collective(c).index_stride = 7;
    Bytes whole(7 * bytes_of(c));
    fill_block(c, 1, 2, {100, 7}, whole.data());
    Bytes parts(7 * bytes_of(c));
    fill_block(c, 1, 2, {30, 4}, parts.data());
    collective(c).first_index = 4;
    fill_block(c, 1, 2, {9, 3}, parts.data() + 4 * bytes_of(c));
    EXPECT_EQ(whole, parts) << spec::name(type);
  }
}

TEST(InputIndexTest, WithoutAStrideTheBufferIsNumberedThrough) {
  const Case c = make(Type::f32, ReduceOp::none, InputKind::general);
  const Bytes whole = elements(c, 1, 10);
  Bytes block(3 * bytes_of(c));
  fill_block(c, 1, 5, {4, 3}, block.data());
  EXPECT_TRUE(std::equal(block.begin(), block.end(), whole.begin() + 16));
  EXPECT_EQ(input_index(c, 5, {4, 3}, 2), 6U);
}

TEST(InputIndexTest, BlocksDifferUnderAStride) {
  Case c = make(Type::f32, ReduceOp::none, InputKind::general);
  collective(c).index_stride = 7;
  EXPECT_EQ(input_index(c, 2, {100, 7}, 3), 17U);
  c.type = Type::int64;
  // A list of any length may have the largest stride: 2^17 · 2^48 is 0 modulo 2^64.
  collective(c).index_stride = std::int64_t{1} << 48;
  EXPECT_EQ(input_index(c, 1 << 17, {0, 1}, 5), 5U);
}

TEST(InputTest, RotationHandsOnTheInputs) {
  Case c = make(Type::f32, ReduceOp::premul_sum, InputKind::general);
  const Case plain = c;
  c.rotate = 2;
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(elements(c, rank, 5), elements(plain, (rank + 2) % 3, 5));
    EXPECT_EQ(scalar(c, rank), scalar(plain, (rank + 2) % 3));
  }
}

TEST(InputTest, ScaledAndAddedInputsAreCombinations) {
  Case c = make(Type::f64, ReduceOp::sum, InputKind::exact);
  const auto a = values(c, 1, 5);
  Case other = c;
  other.data_seed = 9;
  const auto b = values(other, 1, 5);
  c.scale = -2;
  c.added_seed = 9;
  const auto combined = values(c, 1, 5);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(combined[i], -2 * a[i] + b[i]);
}

TEST(InputTest, UnsignedNumbersBelowZeroOverflow) {
  Case c = make(Type::uint32, ReduceOp::sum, InputKind::exact);
  c.scale = -1;
  EXPECT_TRUE(may_overflow(c));
}

TEST(InputTest, AnyAlignmentWillDo) {
  const Case c = make(Type::complex128, ReduceOp::none, InputKind::general);
  Bytes shifted(1 + 3 * bytes_of(c));
  fill_block(c, 0, 0, {0, 3}, shifted.data() + 1);
  shifted.erase(shifted.begin());
  EXPECT_EQ(shifted, elements(c, 0, 3));
}

TEST(InputTest, SeedsAndRanksDiffer) {
  Case c = make(Type::uint64, ReduceOp::none, InputKind::general);
  const Bytes first = elements(c, 0, 4);
  EXPECT_NE(elements(c, 1, 4), first);
  c.data_seed = 8;
  EXPECT_NE(elements(c, 0, 4), first);
}

TEST(PoisonTest, DiffersByCaseRankAndPlace) {
  Case c = make(Type::uint8, ReduceOp::none, InputKind::general);
  const auto poison = [&](int rank) {
    Bytes bytes(64);
    fill_poison(c, rank, 0, bytes.data(), 64);
    return bytes;
  };
  const Bytes first = poison(0);
  EXPECT_NE(poison(1), first);
  EXPECT_FALSE(std::equal(first.begin(), first.begin() + 32, first.begin() + 32));
  c.data_seed = 8;
  EXPECT_NE(poison(0), first);
}

TEST(PoisonTest, StaysWithinItsSize) {
  for (std::int64_t size = 0; size <= 17; ++size) {
    Bytes bytes(24, std::byte{});
    fill_poison(make(Type::uint8, ReduceOp::none, InputKind::general), 0, 0, bytes.data(), size);
    EXPECT_TRUE(std::all_of(
        bytes.begin() + size, bytes.end(), [](std::byte each) { return each == std::byte{}; }));
  }
}

// --- numbers

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
