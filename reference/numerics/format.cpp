#include "reference/numerics/format.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "reference/numerics/fold.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::numerics {

namespace {

using spec::Type;

/// The fields of a floating-point encoding. If the largest exponent uses the topmost exponent field
/// (f8e4m3), the format has no infinities, and only its topmost pattern is NaN.
struct Layout {
  int mantissa_bits;
  int bias;
  int exponent_bits;
  bool has_infinity;

  explicit constexpr Layout(Type type)
      : mantissa_bits(spec::info(type).precision - 1),
        bias(1 - spec::info(type).exponent_min),
        exponent_bits(8 * spec::info(type).bytes - spec::info(type).precision),
        has_infinity(spec::info(type).exponent_max + bias < (1 << exponent_bits) - 1) {}

  [[nodiscard]] constexpr std::uint64_t sign_bit() const {
    return std::uint64_t{1} << (mantissa_bits + exponent_bits);
  }
  /// The bits of the smallest magnitude that is not finite.
  [[nodiscard]] constexpr std::uint64_t first_special() const {
    const std::uint64_t all_ones = sign_bit() - 1;
    return has_infinity ? all_ones >> mantissa_bits << mantissa_bits : all_ones;
  }
  [[nodiscard]] constexpr std::uint64_t quiet_nan() const {
    return has_infinity ? first_special() | std::uint64_t{1} << (mantissa_bits - 1)
                        : first_special();
  }
};

constexpr int double_mantissa_bits = 52;
constexpr int double_bias = 1023;

constexpr double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + double_bias)
                               << double_mantissa_bits);
}

/// Reads the fields as a double with too small an exponent, then scales it. This is one
/// multiplication, exact for normal and for subnormal values.
template <Type type, typename Bits>
double decode(Bits bits) {
  constexpr Layout layout(type);
  const std::uint64_t wide = bits;
  const std::uint64_t magnitude = wide & (layout.sign_bit() - 1);
  double value = std::bit_cast<double>(magnitude << (double_mantissa_bits - layout.mantissa_bits)) *
                 power_of_two(double_bias - layout.bias);
  if (magnitude >= layout.first_special()) {
    const bool infinite = layout.has_infinity && magnitude == layout.first_special();
    value = infinite ? std::numeric_limits<double>::infinity()
                     : std::numeric_limits<double>::quiet_NaN();
  }
  return (wide & layout.sign_bit()) != 0 ? -value : value;
}

/// Rounds to nearest even, on the fields: a carry out of the mantissa raises the exponent.
std::uint64_t encode(const Layout& layout, double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t sign = (bits >> 63) != 0 ? layout.sign_bit() : 0;
  if (std::isnan(value)) return sign | layout.quiet_nan();
  const std::uint64_t beyond =
      sign | (layout.has_infinity ? layout.first_special() : layout.quiet_nan());
  if (std::isinf(value)) return beyond;
  const auto field = static_cast<int>(bits >> double_mantissa_bits & 0x7ff);
  std::uint64_t significand = bits & ((std::uint64_t{1} << double_mantissa_bits) - 1);
  if (field != 0) significand |= std::uint64_t{1} << double_mantissa_bits;
  const int target = (field != 0 ? field : 1) - double_bias + layout.bias;
  const int shift = double_mantissa_bits - layout.mantissa_bits + (target < 1 ? 1 - target : 0);
  if (shift > double_mantissa_bits + 2) return sign;
  const std::uint64_t kept = significand >> shift;
  const std::uint64_t dropped = significand - (kept << shift);
  const std::uint64_t half = shift > 0 ? std::uint64_t{1} << (shift - 1) : 0;
  const bool up = shift > 0 && (dropped > half || (dropped == half && (kept & 1) != 0));
  // The hidden bit, if the value has one, adds one to the exponent field.
  const auto exponent = static_cast<std::uint64_t>(target > 1 ? target - 1 : 0);
  const std::uint64_t magnitude = (exponent << layout.mantissa_bits) + kept + (up ? 1 : 0);
  return magnitude >= layout.first_special() ? beyond : sign | magnitude;
}

template <typename Bits, typename Decode>
void load_as(const std::byte* in, std::int64_t count, double* out, Decode decode_one) {
  for (std::int64_t i = 0; i < count; ++i) {
    Bits bits;
    std::memcpy(&bits, in + i * static_cast<std::int64_t>(sizeof(Bits)), sizeof(Bits));
    out[i] = decode_one(bits);
  }
}

template <typename T>
double as_double(T value) {
  return static_cast<double>(value);
}

/// Truncates toward zero, then takes the value modulo 2^64; NaN and infinities give 0.
std::uint64_t wrapped(double value) {
  if (!std::isfinite(value)) return 0;
  const double magnitude = std::fmod(std::trunc(std::fabs(value)), 0x1p64);
  const auto bits = static_cast<std::uint64_t>(magnitude);
  return value < 0 ? 0 - bits : bits;
}

/// Writes the low `bytes` bytes of a value, in the machine's byte order.
void store_low(std::uint64_t bits, int bytes, std::byte* out) {
  const auto size = spec::to_size(bytes);
  const auto* from = reinterpret_cast<const std::byte*>(&bits);
  if constexpr (std::endian::native == std::endian::big) from += sizeof(bits) - size;
  std::memcpy(out, from, size);
}

Format make_format(const spec::TypeInfo& type) {
  const Layout layout(spec::component(type.type));
  const double ulp_of_one = std::ldexp(1.0, 1 - type.precision);
  Format format;
  format.unit_roundoff = ulp_of_one / 2;
  format.smallest_subnormal = std::ldexp(ulp_of_one, type.exponent_min);
  format.smallest_normal = std::ldexp(1.0, type.exponent_min);
  // In a format without infinities the topmost significand encodes NaN.
  const double top = layout.has_infinity ? 2 - ulp_of_one : 2 - 2 * ulp_of_one;
  format.largest = std::ldexp(top, type.exponent_max);
  // This is infinite for f64: no double lies beyond its largest value.
  format.overflow = format.largest + std::ldexp(ulp_of_one / 2, type.exponent_max);
  return format;
}

}  // namespace

const Format& format_of(Type component) {
  static const auto formats = [] {
    std::array<Format, spec::type_table.size()> all;
    std::transform(spec::type_table.begin(), spec::type_table.end(), all.begin(), make_format);
    return all;
  }();
  return formats[spec::to_size(component)];
}

void load(Type component, const std::byte* in, std::int64_t count, double* out) {
  switch (component) {
    case Type::f16:
      return load_as<std::uint16_t>(in, count, out, decode<Type::f16, std::uint16_t>);
    case Type::bf16:
      return load_as<std::uint16_t>(in, count, out, decode<Type::bf16, std::uint16_t>);
    case Type::f8e4m3:
      return load_as<std::uint8_t>(in, count, out, decode<Type::f8e4m3, std::uint8_t>);
    case Type::f8e5m2:
      return load_as<std::uint8_t>(in, count, out, decode<Type::f8e5m2, std::uint8_t>);
    case Type::f32:
      return load_as<float>(in, count, out, as_double<float>);
    case Type::f64:
      return load_as<double>(in, count, out, as_double<double>);
    case Type::complex64:
    case Type::complex128:
      return;
    default:
      visit_integer(component, [&](auto zero) {
        using T = decltype(zero);
        load_as<T>(in, count, out, as_double<T>);
      });
  }
}

double to_double(Type component, const std::byte* element) {
  double value = 0;
  load(spec::component(component), element, 1, &value);
  return value;
}

void from_double(Type component, double value, std::byte* element) {
  const Type type = spec::component(component);
  const std::uint64_t bits = spec::is_integer(type) ? wrapped(value) : encode(Layout(type), value);
  store_low(bits, spec::info(type).bytes, element);
}

}  // namespace rankcheck::numerics
