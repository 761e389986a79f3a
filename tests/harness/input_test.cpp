#include "harness/input.hpp"

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

namespace rankcheck::harness {
namespace {

using spec::ReduceOp;
using spec::Type;
using Bytes = std::vector<std::byte>;

constexpr int ranks_max = 64;

std::string hexadecimal(const Bytes& bytes) {
  std::string text;
  for (const std::byte each : bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    text += digits[std::to_integer<std::size_t>(each >> 4)];
    text += digits[std::to_integer<std::size_t>(each & std::byte{15})];
  }
  return text;
}

std::size_t bytes_of(const Case& c) {
  return static_cast<std::size_t>(spec::info(c.type).bytes);
}

/// The first `count` elements of a rank.
Bytes elements(const Case& c, int rank, std::int64_t count) {
  Bytes bytes(static_cast<std::size_t>(count) * bytes_of(c));
  fill_block(c, rank, 0, {0, count}, bytes.data());
  return bytes;
}

/// Their components as numbers.
std::vector<double> values(const Case& c, int rank, std::int64_t count) {
  const Bytes bytes = elements(c, rank, count);
  const Type component = spec::component(c.type);
  const auto step = static_cast<std::size_t>(spec::info(component).bytes);
  std::vector<double> out;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    out.push_back(numerics::to_double(component, bytes.data() + at));
  }
  return out;
}

double scalar(const Case& c, int rank) {
  Bytes bytes(bytes_of(c));
  fill_scalar(c, rank, bytes.data());
  return numerics::to_double(c.type, bytes.data());
}

Case make(Type type, ReduceOp op, InputKind input, int ranks = 3) {
  Case c;
  c.operation = op == ReduceOp::none ? "broadcast" : "all_reduce";
  c.type = type;
  c.op = op;
  c.input = input;
  c.ranks = ranks;
  c.data_seed = 7;
  return c;
}

// --- frozen values: computed from reports/INPUTS.md alone, by a program in another language
// -------

/// Fields of a case and what rank 1 of 3 begins with under seed 7.
struct Golden {
  std::string fields;
  std::string bytes;
};

class GoldenInputTest : public testing::TestWithParam<Golden> {};

TEST_P(GoldenInputTest, IsAsDocumented) {
  const Case c =
      case_from_text(R"({"operation":"a","ranks":3,"data_seed":7,)" + GetParam().fields + "}");
  const auto size = static_cast<std::int64_t>(GetParam().bytes.size() / 2 / bytes_of(c));
  EXPECT_EQ(hexadecimal(elements(c, 1, size)), GetParam().bytes) << to_text(c);
}

const std::vector<Golden> golden_inputs{

    Golden{R"("type":"uint8","input":"coded")", "8c8f9baa"},
    Golden{R"("type":"f16","input":"coded")", "8cb38fe39bbdaa7f"},
    Golden{R"("type":"f32","input":"coded")", "000000484000004880000048c0000048"},
    Golden{R"("type":"int32","input":"coded")", "00000200010002000200020003000200"},
    Golden{R"("type":"f64","input":"coded")", "000000000000f041000010000000f041"},
    Golden{R"("type":"complex64","input":"coded")", "000000484000004880000048c0000048"},
    Golden{R"("type":"int8","input":"exact")", "fffdfdfd"},
    Golden{R"("type":"bf16","input":"exact")", "40c000c1c0c00000"},
    Golden{R"("type":"int32","input":"special")", "01000000000000800000008000000080"},
    Golden{R"("type":"f8e4m3","input":"special")", "858180a3"},
    Golden{R"("type":"f8e5m2")", "6d89ab53"},
    Golden{R"("type":"complex128")",
           "6dc6d9872366cafb89c77173e3da57a4abcd5e60e012b9e753d5bfa5c6140a8c"},
    Golden{R"("type":"int8","op":"prod","input":"exact")", "fefefefe"},
    Golden{R"("type":"uint64","op":"prod","input":"coded")", "02000000000000000200000000000000"},
    Golden{R"("type":"f32","op":"max","input":"coded")", "0000803f0000803f0000000000000040"},
    Golden{R"("type":"int64","op":"min","input":"coded")", "01000000000000000100000000000000"},
    Golden{R"("type":"f16","op":"sum","input":"coded")", "004c004800480048"},
    Golden{R"("type":"uint32","op":"avg","input":"coded")", "10000000080000000800000008000000"},
    Golden{R"("type":"complex64","op":"sum","input":"coded")", "00008041000000410000004100000041"},
    Golden{R"("type":"int8","op":"sum","input":"exact")", "fffdfdfd"},
    Golden{R"("type":"f64","op":"premul_sum","input":"exact")", "0000000030c20ac1000000008ca01fc1"},
    Golden{R"("type":"f32","op":"sum","input":"exact")", "c098f3c8c07870c88075dcc780aae9c8"},
    Golden{R"("type":"uint64","op":"max","input":"special")", "01000000000000000000000000000080"},
    Golden{R"("type":"f32","op":"sum","input":"special")", "6dc6598089c771800000008053d53fbe"},
    Golden{R"("type":"f32","op":"prod","input":"special")", "000000800000008000000080000080bf"},
    Golden{R"("type":"f64","op":"min","input":"special")", "6dc6d98723660a8089c77173e3da0780"},
    Golden{R"("type":"int32","op":"sum")", "6dc6d98789c77173abcd5e6053d5bfa5"},
    Golden{R"("type":"f32","op":"prod")", "f23c8abf17198abf63ac82bfa33c95bf"},
    Golden{R"("type":"bf16","op":"sum","input":"cancelling")", "2ec129c15cc158c1"},
    Golden{R"("type":"complex128","op":"sum","input":"cancelling")",
           "aee2aaf4891c2ec0a982bcfef0b028c0dc94b2111e2724c058dbca1e990c25c0"},
    Golden{R"("type":"f16","op":"avg","input":"wide_range")", "6d368953ab8d53b1"},
    Golden{R"("type":"f32","op":"max")", "6dc6d9bd89c771bfabcddebd53d53fbf"},
    Golden{R"("type":"f64","op":"sum")", "6dc6d9872366babf89c77173e3dae7bf"},
    Golden{R"("type":"int32","op":"sum","input":"exact","scale":2,"added_seed":9)",
           "4065faff0490f5ff08dfeffffbb1e0ff"},
};

INSTANTIATE_TEST_SUITE_P(input, GoldenInputTest, testing::ValuesIn(golden_inputs));

TEST(InputTest, HashIsAsDocumented) {
  EXPECT_EQ(CounterHash(1, 0)(0), 0xb18a02f46d8d86c3U);
  EXPECT_EQ(CounterHash(7, 3)(5), 0xaeffd877c3126126U);
}

TEST(InputTest, ScalarsAreAsDocumented) {
  const auto text = [](Type type, InputKind input) {
    const Case c = make(type, ReduceOp::premul_sum, input);
    Bytes bytes(bytes_of(c));
    fill_scalar(c, 1, bytes.data());
    return hexadecimal(bytes);
  };
  EXPECT_EQ(text(Type::f32, InputKind::coded), "0000803f");
  EXPECT_EQ(text(Type::f32, InputKind::general), "e63f4fbf");
  EXPECT_EQ(text(Type::f64, InputKind::exact), "000000000000f0bf");
  EXPECT_EQ(text(Type::uint8, InputKind::special), "01");
}

TEST(InputTest, PoisonIsAsDocumented) {
  Bytes bytes(11);
  fill_poison(make(Type::f32, ReduceOp::none, InputKind::general), 1, bytes.data(), 11);
  EXPECT_EQ(hexadecimal(bytes), "1df4b8ac53d63ec5995f39");
}

// --- claims that hold for every type, op and number of ranks
// ---------------------------------------

class InputTypeTest : public testing::TestWithParam<Type> {
 protected:
  /// Calls `check` for every case with inputs of whole numbers: all ops, ranks, and ways to combine
  /// two inputs.
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

  /// The largest sum of magnitudes over the ranks: no partial sum in any order is larger.
  static double largest_sum(const Case& c) {
    // A coded element shows a part of the ranks only: look at every part.
    const std::int64_t count = c.input == InputKind::coded ? c.ranks : 4;
    std::vector<double> sums(static_cast<std::size_t>(2 * count));
    for (int rank = 0; rank < c.ranks; ++rank) {
      const double factor = c.op == ReduceOp::premul_sum ? scalar(c, rank) : 1;
      const std::vector<double> each = values(c, rank, count);
      for (std::size_t i = 0; i < each.size(); ++i) sums[i] += std::abs(each[i] * factor);
    }
    return *std::max_element(sums.begin(), sums.end());
  }
};

const auto type_name = [](const auto& instance) { return std::string(spec::name(instance.param)); };

class FloatInputTest : public InputTypeTest {};

/// Whole numbers up to 2^precision are exact in a float, and so are their sums up to there; an
/// exact average divides by a power of two.
TEST_P(FloatInputTest, ExactSumsStayWhole) {
  const double limit = std::ldexp(1.0, spec::info(GetParam()).precision);
  int exact = 0;
  for_each_whole_case([&](const Case& c) {
    if (!is_exact(c)) return;
    ++exact;
    ASSERT_LE(largest_sum(c), limit) << to_text(c);
    for (const double value : values(c, c.ranks - 1, 4)) ASSERT_EQ(value, std::nearbyint(value));
    if (c.op == ReduceOp::avg) {
      ASSERT_TRUE(std::has_single_bit(static_cast<unsigned>(c.ranks)));
    }
  });
  EXPECT_GT(exact, 100);
}

TEST_P(FloatInputTest, ExactProductsArePowersOfTwo) {
  if (!spec::is_defined(ReduceOp::prod, GetParam())) return;
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

/// No order of evaluation may overflow: the bound of a sum assumes it.
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
    type,
    FloatInputTest,
    testing::Values(Type::f16, Type::bf16, Type::f32, Type::f64, Type::complex64, Type::complex128),
    type_name);

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
  for (const ReduceOp op : {ReduceOp::none, ReduceOp::min, ReduceOp::max}) {
    EXPECT_FALSE(may_overflow(make(GetParam(), op, InputKind::special)));
  }
}

INSTANTIATE_TEST_SUITE_P(
    type,
    IntegerInputTest,
    testing::Values(Type::int8, Type::uint8, Type::int32, Type::uint32, Type::int64, Type::uint64),
    type_name);

class CodedInputTest : public InputTypeTest {};

TEST_P(CodedInputTest, NoTwoRanksHoldTheSameExtreme) {
  const std::int64_t count = 8;
  for (int ranks = 1; ranks <= ranks_max; ++ranks) {
    const Case c = make(GetParam(), ReduceOp::max, InputKind::coded, ranks);
    std::vector<std::set<double>> seen(static_cast<std::size_t>(count));
    for (int rank = 0; rank < ranks; ++rank) {
      const std::vector<double> each = values(c, rank, count);
      for (std::size_t i = 0; i < each.size(); ++i) {
        ASSERT_TRUE(seen[i].insert(each[i]).second) << to_text(c) << " rank " << rank;
      }
    }
  }
}

/// Every rank shows in some element, each at its own place.
TEST_P(CodedInputTest, SumsDecode) {
  for (const int ranks : {1, 3, 17, 64}) {
    const Case c = make(GetParam(), ReduceOp::sum, InputKind::coded, ranks);
    std::vector<double> sums(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
      const std::vector<double> each = values(c, rank, ranks);
      for (std::size_t i = 0; i < each.size(); ++i) sums[i] += each[i];
    }
    for (int rank = 0; rank < ranks; ++rank) {
      const std::vector<double> each = values(c, rank, ranks);
      const auto shown = std::find_if(each.begin(), each.end(), [](double x) { return x > 0; });
      ASSERT_NE(shown, each.end()) << to_text(c) << " rank " << rank;
      const auto index = static_cast<std::size_t>(shown - each.begin());
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

INSTANTIATE_TEST_SUITE_P(type,
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
                         type_name);

// --- what decodes, what does not
// -------------------------------------------------------------------

std::string decode_f32(const Case& c, float expected, float got) {
  Bytes bits(8);
  std::memcpy(bits.data(), &expected, 4);
  std::memcpy(bits.data() + 4, &got, 4);
  return decode_sum(c, 0, bits.data(), bits.data() + 4);
}

/// The sum of three ranks whose digits are d0, d1, d2.
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

TEST(DecodeTest, OnlyCodedSumsDecode) {
  for (const Case& c : {make(Type::f32, ReduceOp::sum, InputKind::exact),
                        make(Type::f32, ReduceOp::max, InputKind::coded),
                        make(Type::complex64, ReduceOp::sum, InputKind::coded)}) {
    EXPECT_EQ(decode_f32(c, 1, 0), "") << to_text(c);
  }
}

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

// --- indices, ranks, seeds
// -------------------------------------------------------------------------

/// The two halves of a block, whose elements number `longest` in the whole, are its elements.
TEST(InputIndexTest, PartsAreTheWhole) {
  for (const Type type : {Type::uint8, Type::f32, Type::complex128}) {
    Case c = make(type, ReduceOp::none, InputKind::general);
    c.index_stride = 7;
    Bytes whole(7 * bytes_of(c));
    fill_block(c, 1, 2, {100, 7}, whole.data());
    Bytes parts(7 * bytes_of(c));
    fill_block(c, 1, 2, {30, 4}, parts.data());
    c.first_index = 4;
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
  c.index_stride = 7;
  EXPECT_EQ(input_index(c, 2, {100, 7}, 3), 17U);
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
    fill_poison(c, rank, bytes.data(), 64);
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
    fill_poison(make(Type::uint8, ReduceOp::none, InputKind::general), 0, bytes.data(), size);
    EXPECT_TRUE(std::all_of(
        bytes.begin() + size, bytes.end(), [](std::byte each) { return each == std::byte{}; }));
  }
}

// --- special values
// --------------------------------------------------------------------------------

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

// --- which inputs mean something, and which are exact
// ----------------------------------------------

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
