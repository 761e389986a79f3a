#pragma once

#include <cstddef>
#include <cstdint>

#include "reference/spec/type.hpp"

/// The floating-point formats, derived from the type table alone.
namespace rankcheck::numerics {

/// The properties of a floating-point format that error bounds use.
struct Format {
  /// Largest relative error of rounding to nearest: 2^-precision.
  double unit_roundoff = 0;
  double smallest_subnormal = 0;
  double smallest_normal = 0;
  double largest = 0;
  /// The smallest magnitude that rounds to infinity: half a unit in the last place above `largest`.
  double overflow = 0;
};

/// The format of a floating type, or of a complex type's component.
[[nodiscard]] const Format& format_of(spec::Type component);

/// Reads `count` components as double, with any alignment. Exact, except that integers of more than
/// 53 bits are rounded.
void load(spec::Type component, const std::byte* in, std::int64_t count, double* out);

/// Returns visitor(T{}) with the C++ type T of an integer type.
template <class Visitor>
auto visit_integer(spec::Type type, const Visitor& visitor) {
  switch (type) {
    case spec::Type::int8:
      return visitor(std::int8_t{});
    case spec::Type::uint8:
      return visitor(std::uint8_t{});
    case spec::Type::int32:
      return visitor(std::int32_t{});
    case spec::Type::uint32:
      return visitor(std::uint32_t{});
    case spec::Type::int64:
      return visitor(std::int64_t{});
    default:
      return visitor(std::uint64_t{});
  }
}

}  // namespace rankcheck::numerics
