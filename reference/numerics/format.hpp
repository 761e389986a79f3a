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

}  // namespace rankcheck::numerics
