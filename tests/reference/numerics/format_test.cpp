#include "reference/numerics/format.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <ostream>
#include <vector>

#include <gtest/gtest.h>

#include "tests/print.hpp"
#include "tests/reference/numerics/floats.hpp"

namespace rankcheck::tests {
namespace {

using spec::Type;

/// A format written by hand, not taken from the type table.
struct HandFormat {
  Type type;
  int exponent_bits;
  int mantissa_bits;
  int bias;
  bool has_infinity;
  double largest;

  friend void PrintTo(const HandFormat& each, std::ostream* out) { *out << spec::name(each.type); }
};

const std::vector<HandFormat> hand_formats{
    {Type::f16, 5, 10, 15, true, 65504},
    {Type::bf16, 8, 7, 127, true, 0x1.fep127},
    {Type::f8e4m3, 4, 3, 7, false, 448},
    {Type::f8e5m2, 5, 2, 15, true, 57344},
};

double value_by_definition(const HandFormat& format, unsigned bits) {
  const unsigned mantissa = bits & ((1U << format.mantissa_bits) - 1);
  const unsigned exponent = bits >> format.mantissa_bits & ((1U << format.exponent_bits) - 1);
  const bool negative = (bits >> (format.mantissa_bits + format.exponent_bits)) != 0;
  const unsigned mantissas = 1U << format.mantissa_bits;
  const bool top = exponent == (1U << format.exponent_bits) - 1;
  double value = 0;
  if (format.has_infinity && top) {
    value = mantissa == 0 ? infinity : std::nan("");
  } else if (!format.has_infinity && top && mantissa == mantissas - 1) {
    value = std::nan("");
  } else if (exponent == 0) {
    value = std::ldexp(mantissa, 1 - format.bias - format.mantissa_bits);
  } else {
    value = std::ldexp(mantissas + mantissa,
                       static_cast<int>(exponent) - format.bias - format.mantissa_bits);
  }
  return negative ? -value : value;
}

double decoded(Type type, unsigned bits) {
  std::array<std::byte, 4> element;
  std::memcpy(element.data(), &bits, sizeof(bits));
  return numerics::to_double(type, element.data());
}

unsigned encoded(Type type, double value) {
  std::array<std::byte, 4> element{};
  numerics::from_double(type, value, element.data());
  return std::bit_cast<unsigned>(element);
}

unsigned patterns(const HandFormat& format) {
  return 2U << (format.exponent_bits + format.mantissa_bits);
}

class NarrowFormatTest : public testing::TestWithParam<HandFormat> {};

INSTANTIATE_TEST_SUITE_P(All, NarrowFormatTest, testing::ValuesIn(hand_formats), printed_name);

TEST_P(NarrowFormatTest, DecodesEveryPatternByDefinition) {
  for (unsigned bits = 0; bits < patterns(GetParam()); ++bits) {
    const double expected = value_by_definition(GetParam(), bits);
    const double got = decoded(GetParam().type, bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(got)) << bits;
    } else {
      ASSERT_EQ(std::bit_cast<std::uint64_t>(got), std::bit_cast<std::uint64_t>(expected)) << bits;
    }
  }
}

TEST_P(NarrowFormatTest, EncodesEveryValueToItsOwnPattern) {
  for (unsigned bits = 0; bits < patterns(GetParam()); ++bits) {
    const double value = value_by_definition(GetParam(), bits);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(decoded(GetParam().type, encoded(GetParam().type, value)))) << bits;
    } else {
      ASSERT_EQ(encoded(GetParam().type, value), bits);
    }
  }
}

TEST_P(NarrowFormatTest, RoundsBetweenNeighboursToNearestEven) {
  for (unsigned bits = 0; value_by_definition(GetParam(), bits) < GetParam().largest; ++bits) {
    const double low = value_by_definition(GetParam(), bits);
    const double high = value_by_definition(GetParam(), bits + 1);
    const double middle = (low + high) / 2;
    const Type type = GetParam().type;
    ASSERT_EQ(encoded(type, middle), bits % 2 == 0 ? bits : bits + 1);
    ASSERT_EQ(encoded(type, std::nextafter(middle, 0)), bits);
    ASSERT_EQ(encoded(type, std::nextafter(middle, infinity)), bits + 1);
  }
}

TEST_P(NarrowFormatTest, KnowsItsNumbers) {
  const numerics::Format format = numerics::format_of(GetParam().type);
  EXPECT_EQ(format.largest, GetParam().largest);
  EXPECT_EQ(format.smallest_subnormal, value_by_definition(GetParam(), 1));
  EXPECT_EQ(format.smallest_normal,
            value_by_definition(GetParam(), 1U << GetParam().mantissa_bits));
  EXPECT_EQ(format.unit_roundoff, std::ldexp(0.5, -GetParam().mantissa_bits));
}

TEST(FormatTest, OverflowsHalfAUnitAboveTheLargest) {
  EXPECT_EQ(rounded(Type::f16, 65519.99), 65504);
  EXPECT_EQ(rounded(Type::f16, 65520), infinity);
  EXPECT_EQ(rounded(Type::f16, -65520), -infinity);
  EXPECT_EQ(rounded(Type::f8e5m2, 61440), infinity);
  EXPECT_EQ(numerics::format_of(Type::f16).overflow, 65520);
}

TEST(FormatTest, E4m3HasNoInfinity) {
  EXPECT_EQ(rounded(Type::f8e4m3, 464), 448);
  EXPECT_TRUE(std::isnan(rounded(Type::f8e4m3, 464.5)));
  EXPECT_TRUE(std::isnan(rounded(Type::f8e4m3, -infinity)));
}

TEST(FormatTest, SingleRoundsAsTheMachineDoes) {
  Random random(1);
  for (int i = 0; i < 20000; ++i) {
    const double value = std::ldexp(random.unit(), static_cast<int>(random.below(300)) - 160);
    const auto expected = static_cast<float>(value);
    ASSERT_EQ(encoded(Type::f32, value), std::bit_cast<unsigned>(expected)) << value;
  }
}

TEST(FormatTest, DoubleIsItself) {
  for (const double value : {0.0, -0.0, 5e-324, 1.7976931348623157e308, -infinity, 0.1}) {
    std::array<std::byte, 8> element;
    numerics::from_double(Type::f64, value, element.data());
    EXPECT_EQ(std::bit_cast<std::uint64_t>(element), std::bit_cast<std::uint64_t>(value));
  }
}

TEST(FormatTest, IntegersWrapAndTruncate) {
  EXPECT_EQ(rounded(Type::int8, 200), -56);
  EXPECT_EQ(rounded(Type::uint8, -1), 255);
  EXPECT_EQ(rounded(Type::int32, -2.9), -2);
  EXPECT_EQ(rounded(Type::int32, 0x1p31), -0x1p31);
  EXPECT_EQ(rounded(Type::uint64, 0x1p63), 0x1p63);
  EXPECT_EQ(rounded(Type::int64, 0x1p63), -0x1p63);
  EXPECT_EQ(rounded(Type::int64, infinity), 0);
  EXPECT_EQ(rounded(Type::int64, std::nan("")), 0);
}

TEST(FormatTest, ReadsAtAnyAlignment) {
  const std::vector<double> values{1.5, -2, 3};
  for (const Type type : {Type::f16, Type::f32, Type::f64, Type::int32, Type::uint64}) {
    const std::vector<std::byte> aligned = elements(type, values);
    std::vector<std::byte> shifted(aligned.size() + 1);
    std::copy(aligned.begin(), aligned.end(), shifted.begin() + 1);
    std::array<double, 3> got{};
    numerics::load(type, shifted.data() + 1, 3, got.data());
    EXPECT_EQ(got[1], rounded(type, -2)) << spec::name(type);
    EXPECT_EQ(got[2], 3) << spec::name(type);
  }
}

}  // namespace
}  // namespace rankcheck::tests
