#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cases/families/collectives/case.hpp"
#include "cases/families/collectives/inputs.hpp"
#include "tests/cases/families/collectives/inputs.hpp"

namespace rankcheck::cases {
namespace {

using harness::Case;
using harness::fill_poison;
using harness::InputKind;

using spec::ReduceOp;
using spec::Type;

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
