#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "tests/reference/numerics/floats.hpp"

namespace rankcheck::tests {
namespace {

using spec::Type;

std::string text(Type type, std::vector<double> values) {
  return numerics::to_text(type, elements(type, values).data());
}

TEST(TextTest, IsTheShortestThatReadsBack) {
  EXPECT_EQ(text(Type::f32, {0.1F}), "0.1");
  EXPECT_EQ(text(Type::f64, {0.1}), "0.1");
  EXPECT_EQ(text(Type::f64, {0.1F}), "0.10000000149011612");
  EXPECT_EQ(text(Type::f16, {0.1}), "0.1");
  EXPECT_EQ(text(Type::bf16, {1.0 / 3}), "0.334");
  EXPECT_EQ(text(Type::f8e4m3, {448}), "450");
  EXPECT_EQ(text(Type::f16, {-0.0}), "-0");
}

TEST(TextTest, IntegersAreDecimal) {
  EXPECT_EQ(text(Type::int8, {-128}), "-128");
  EXPECT_EQ(text(Type::uint8, {255}), "255");
  const std::uint64_t highest = ~std::uint64_t{0};
  EXPECT_EQ(numerics::to_text(Type::uint64, reinterpret_cast<const std::byte*>(&highest)),
            "18446744073709551615");
}

TEST(TextTest, NamesNanAndInfinities) {
  for (const Type type : {Type::f16, Type::bf16, Type::f32, Type::f64, Type::f8e5m2}) {
    EXPECT_EQ(text(type, {std::nan("")}), "nan");
    EXPECT_EQ(text(type, {-std::numeric_limits<double>::infinity()}), "-inf");
  }
}

TEST(TextTest, ComplexIsAPair) {
  EXPECT_EQ(text(Type::complex64, {1.5, -2}), "(1.5,-2)");
  EXPECT_EQ(text(Type::complex128, {0.1, 1e300}), "(0.1,1e+300)");
}

TEST(TextTest, EveryHalfReadsBack) {
  for (unsigned bits = 0; bits < 0x7c00; ++bits) {
    std::array<std::byte, 2> element{std::byte(bits & 255), std::byte(bits >> 8)};
    const double read = std::stod(numerics::to_text(Type::f16, element.data()));
    ASSERT_EQ(rounded(Type::f16, read), numerics::to_double(Type::f16, element.data())) << bits;
  }
}

}  // namespace
}  // namespace rankcheck::tests
