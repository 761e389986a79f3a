#include "cases/families/collectives/inputs.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference/spec/to_size.hpp"

#include "cases/families/collectives/case.hpp"
#include "tests/cases/families/collectives/inputs.hpp"

namespace rankcheck::cases {
namespace {

using harness::Case;
using harness::fill_poison;
using harness::InputKind;
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

TEST(EachSpecialInputTest, IsForFloats) {
  EXPECT_TRUE(is_defined(InputKind::each_special, Type::f8e4m3, ReduceOp::none));
  EXPECT_TRUE(is_defined(InputKind::each_special, Type::complex64, ReduceOp::sum));
  EXPECT_FALSE(is_defined(InputKind::each_special, Type::int32, ReduceOp::none));
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
  EXPECT_FALSE(is_defined(InputKind::each_special, Type::complex64, ReduceOp::maxloc));
  EXPECT_FALSE(is_defined(InputKind::wide_range, Type::complex64, ReduceOp::minloc));
}

TEST(MapInputTest, FactorsAreOdd) {
  const Case c = make(Type::int32, ReduceOp::compose, InputKind::general);
  for (const double value : values(c, 1, 200)) {
    EXPECT_NE((static_cast<std::int64_t>(value) >> 16) & 1, 0);
  }
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

TEST(InputKindTest, EdgesAreForSums) {
  EXPECT_TRUE(is_defined(InputKind::edge, Type::f16, ReduceOp::sum));
  EXPECT_FALSE(is_defined(InputKind::edge, Type::f16, ReduceOp::avg));
  EXPECT_FALSE(is_defined(InputKind::edge, Type::int32, ReduceOp::sum));
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

TEST(InputKindTest, EightBitFloatsHaveNoExactInputs) {
  EXPECT_FALSE(is_defined(InputKind::exact, Type::f8e4m3, ReduceOp::none));
  EXPECT_TRUE(is_defined(InputKind::coded, Type::f8e4m3, ReduceOp::none));
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
}

/// A list of any length may have the largest stride: 2^17 · 2^48 is 0 modulo 2^64.
TEST(InputIndexTest, WrapsAtTheEnd) {
  Case c = make(Type::int64, ReduceOp::none, InputKind::general);
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

}  // namespace
}  // namespace rankcheck::cases
