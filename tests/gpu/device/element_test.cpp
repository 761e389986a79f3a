#include "gpu/device/element.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace rankcheck::gpu::element {
namespace {

/// Returns the value of a 16-bit float by definition. `fraction_bits` are the significand's bits
/// below the hidden one.
double value_of(std::uint32_t bits, int fraction_bits, int bias) {
  const std::uint32_t fraction = bits & ((1U << fraction_bits) - 1);
  const int exponent = static_cast<int>((bits & 0x7fffU) >> fraction_bits);
  const double hidden = exponent == 0 ? 0.0 : std::ldexp(1.0, fraction_bits);
  const int shift = (exponent == 0 ? 1 : exponent) - bias - fraction_bits;
  const double magnitude = std::ldexp(hidden + fraction, shift);
  return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
}

template <class Stored, int FractionBits, int Bias>
struct ShortFormat {
  static constexpr int fraction_bits = FractionBits;
  static constexpr int bias = Bias;
  static constexpr std::uint32_t infinity = 0x8000 - (1U << FractionBits);
  static float widen(std::uint32_t bits) { return to_float(static_cast<Stored>(bits)); }
  static std::uint32_t narrow(float value) {
    return static_cast<std::uint32_t>(Arithmetic<Stored>::narrow(value));
  }
  static float round(float value) { return Arithmetic<Stored>::round(value); }
};

template <class Format>
class ShortFloatTest : public testing::Test {};
using Formats = testing::Types<ShortFormat<F16, 10, 15>, ShortFormat<BF16, 7, 127>>;
TYPED_TEST_SUITE(ShortFloatTest, Formats);

TYPED_TEST(ShortFloatTest, WidensEveryFiniteValueExactly) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    if ((bits & 0x7fffU) >= TypeParam::infinity) continue;
    ASSERT_EQ(static_cast<double>(TypeParam::widen(bits)),
              value_of(bits, TypeParam::fraction_bits, TypeParam::bias))
        << bits;
  }
}

TYPED_TEST(ShortFloatTest, KeepsEveryValue) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    if ((bits & 0x7fffU) > TypeParam::infinity) {
      ASSERT_TRUE(std::isnan(TypeParam::widen(bits))) << bits;
      ASSERT_GT(TypeParam::narrow(TypeParam::widen(bits)) & 0x7fffU, TypeParam::infinity) << bits;
    } else {
      ASSERT_EQ(TypeParam::narrow(TypeParam::widen(bits)), bits);
    }
  }
}

TYPED_TEST(ShortFloatTest, RoundsToNearestEvenBetweenNeighbours) {
  for (std::uint32_t bits = 0; bits + 1 < TypeParam::infinity; ++bits) {
    const float low = TypeParam::widen(bits);
    const float high = TypeParam::widen(bits + 1);
    const float middle = low + (high - low) / 2;
    ASSERT_EQ(TypeParam::narrow(middle), bits % 2 == 0 ? bits : bits + 1);
    ASSERT_EQ(TypeParam::narrow(-std::nextafter(middle, low)), 0x8000U | bits);
    ASSERT_EQ(TypeParam::narrow(std::nextafter(middle, high)), bits + 1);
  }
}

TYPED_TEST(ShortFloatTest, RoundsWithoutNarrowingToTheSameValue) {
  for (std::uint32_t pattern = 0; pattern < 0x100000; ++pattern) {
    // All signs and exponents, with the upper bits and the lowest bit of the significand.
    const auto value = bits_as<float>((pattern & 0xffffeU) << 12 | (pattern & 1U));
    const float rounded = TypeParam::round(value);
    const float detour = TypeParam::widen(TypeParam::narrow(value));
    ASSERT_TRUE(std::isnan(value)
                    ? std::isnan(rounded)
                    : bits_as<std::uint32_t>(rounded) == bits_as<std::uint32_t>(detour))
        << value;
  }
}

TYPED_TEST(ShortFloatTest, OverflowsFromTheMiddleToTheNextPowerOfTwo) {
  const std::uint32_t largest = TypeParam::infinity - 1;
  const float top = TypeParam::widen(largest);
  const float half_ulp = (top - TypeParam::widen(largest - 1)) / 2;
  EXPECT_EQ(TypeParam::narrow(top + half_ulp), TypeParam::infinity);
  EXPECT_EQ(TypeParam::narrow(std::nextafter(top + half_ulp, 0.0F)), largest);
  EXPECT_EQ(TypeParam::narrow(-std::numeric_limits<float>::infinity()),
            0x8000U | TypeParam::infinity);
}

TEST(ElementTest, IntegersWrap) {
  EXPECT_EQ(add<std::int8_t>(127, 1), -128);
  EXPECT_EQ(add(std::numeric_limits<std::int64_t>::max(), std::int64_t{1}),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(multiply<std::uint8_t>(200, 2), 144);
  EXPECT_EQ(multiply(std::numeric_limits<std::int32_t>::min(), -1),
            std::numeric_limits<std::int32_t>::min());
}

TEST(ElementTest, IntegersDivideTowardZero) {
  EXPECT_EQ(divide<std::int32_t>(-7, 2), -3);
  EXPECT_EQ(divide<std::int8_t>(-128, 300), 0);
  EXPECT_EQ(divide(std::numeric_limits<std::uint64_t>::max(), 2), 0x7fffffffffffffffU);
}

TEST(ElementTest, MinimumAndMaximumDropNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(minimum(nan, 2.0F), 2.0F);
  EXPECT_EQ(minimum(2.0F, nan), 2.0F);
  EXPECT_EQ(maximum(nan, 2.0F), 2.0F);
  EXPECT_EQ(maximum(2.0F, nan), 2.0F);
  EXPECT_TRUE(std::isnan(minimum(nan, nan)));
}

TEST(ElementTest, MinimumAndMaximumOrderTheZeros) {
  EXPECT_TRUE(std::signbit(minimum(0.0, -0.0)));
  EXPECT_TRUE(std::signbit(minimum(-0.0, 0.0)));
  EXPECT_FALSE(std::signbit(maximum(0.0, -0.0)));
  EXPECT_FALSE(std::signbit(maximum(-0.0, 0.0)));
}

}  // namespace
}  // namespace rankcheck::gpu::element
