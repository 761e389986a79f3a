#include "harness/page/values.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

namespace rankcheck::harness::page {

namespace {

using spec::Type;
using spec::TypeInfo;

/// The value of a floating-point number with these bits.
double number_of(const TypeInfo& type, std::uint64_t bits) {
  const int fraction_bits = type.precision - 1;
  const int exponent_bits = 8 * type.bytes - 1 - fraction_bits;
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << fraction_bits) - 1);
  const std::uint64_t largest = (std::uint64_t{1} << exponent_bits) - 1;
  const std::uint64_t exponent = bits >> fraction_bits & largest;
  const double sign = (bits >> (8 * type.bytes - 1) & 1) != 0 ? -1 : 1;
  // f8e4m3 has no infinities, and only one pattern of NaN for each sign.
  const bool is_finite_only = type.type == Type::f8e4m3;
  const bool is_all_ones = fraction == (std::uint64_t{1} << fraction_bits) - 1;
  if (exponent == largest && (!is_finite_only || is_all_ones)) {
    return is_finite_only || fraction != 0 ? std::nan("") : sign * INFINITY;
  }
  const double whole =
      static_cast<double>(fraction) + (exponent == 0 ? 0 : std::ldexp(1.0, fraction_bits));
  const int power = type.exponent_min + (exponent == 0 ? 0 : static_cast<int>(exponent) - 1);
  return sign * std::ldexp(whole, power - fraction_bits);
}

std::string text_of(const TypeInfo& type, std::uint64_t bits) {
  const int unused = 64 - 8 * type.bytes;
  switch (type.type_class) {
    case spec::TypeClass::unsigned_integer:
      return std::to_string(bits);
    case spec::TypeClass::signed_integer:
      return std::to_string(static_cast<std::int64_t>(bits << unused) >> unused);
    case spec::TypeClass::floating:
    case spec::TypeClass::complex:
      break;
  }
  const double value = number_of(type, bits);
  return std::isnan(value) ? "nan" : fmt::format("{:.9g}", value);
}

std::optional<std::uint64_t> number_of(std::string_view digits) {
  std::uint64_t bits = 0;
  const char* end = digits.data() + digits.size();
  const auto [last, error] = std::from_chars(digits.data(), end, bits, 16);
  if (error != std::errc() || last != end) return std::nullopt;
  return bits;
}

}  // namespace

std::string as_value(Type type, std::string_view text) {
  const auto digits_max = 2 * static_cast<std::size_t>(spec::info(type).bytes);
  if (!text.starts_with("0x") || text.size() != 2 + digits_max) return std::string(text);
  const TypeInfo& part = spec::info(spec::component(type));
  const std::size_t digits = 2 * static_cast<std::size_t>(part.bytes);
  const auto low = number_of(text.substr(text.size() - digits));
  const auto high = number_of(text.substr(2, digits));
  if (!low || !high) return std::string(text);
  if (!spec::is_complex(type)) return fmt::format("{} ({})", text_of(part, *low), text);
  // The imaginary part lies behind the real part, so its digits come first.
  return fmt::format("{} + {}i ({})", text_of(part, *low), text_of(part, *high), text);
}

}  // namespace rankcheck::harness::page
