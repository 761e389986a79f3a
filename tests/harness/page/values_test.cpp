#include "harness/page/values.hpp"

#include <gtest/gtest.h>

namespace rankcheck::harness::page {
namespace {

using spec::Type;

TEST(PageValuesTest, BitsBecomeValues) {
  EXPECT_EQ(as_value(Type::f32, "0x3fc00000"), "1.5 (0x3fc00000)");
  EXPECT_EQ(as_value(Type::f32, "0x00000001"), "1.40129846e-45 (0x00000001)");
  EXPECT_EQ(as_value(Type::f64, "0xbff0000000000000"), "-1 (0xbff0000000000000)");
  EXPECT_EQ(as_value(Type::f16, "0xfc00"), "-inf (0xfc00)");
  EXPECT_EQ(as_value(Type::bf16, "0x7fc0"), "nan (0x7fc0)");
  EXPECT_EQ(as_value(Type::int8, "0xff"), "-1 (0xff)");
  EXPECT_EQ(as_value(Type::uint8, "0xff"), "255 (0xff)");
  EXPECT_EQ(as_value(Type::int64, "0x8000000000000000"),
            "-9223372036854775808 (0x8000000000000000)");
}

TEST(PageValuesTest, EightBitFloatsFollowTheirTypes) {
  EXPECT_EQ(as_value(Type::f8e4m3, "0x7e"), "448 (0x7e)");
  EXPECT_EQ(as_value(Type::f8e4m3, "0x7f"), "nan (0x7f)");
  EXPECT_EQ(as_value(Type::f8e5m2, "0x7c"), "inf (0x7c)");
}

TEST(PageValuesTest, ComplexNumbersHaveTheirRealPartInTheLowBits) {
  EXPECT_EQ(as_value(Type::complex64, "0x400000003f800000"), "1 + 2i (0x400000003f800000)");
}

TEST(PageValuesTest, OtherTextStays) {
  EXPECT_EQ(as_value(Type::f32, "1.5"), "1.5");
  EXPECT_EQ(as_value(Type::f32, "0x3fc0"), "0x3fc0") << "not as many digits as f32 has";
  EXPECT_EQ(as_value(Type::f32, "0xnothings"), "0xnothings");
}

}  // namespace
}  // namespace rankcheck::harness::page
