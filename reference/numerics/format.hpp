#pragma once

#include <cstddef>
#include <cstdint>

#include "reference/spec/type.hpp"

/// The floating-point formats, derived from the type table alone.
namespace rankcheck::numerics {

/// The numbers of a floating-point format that error bounds are made of.
struct Format {
  /// Largest relative error of rounding to nearest: 2^-precision.
  double unit_roundoff = 0;
  double smallest_subnormal = 0;
  double smallest_normal = 0;
  double largest = 0;
  /// The smallest magnitude that rounds to infinity: half a unit above the largest.
  double overflow = 0;
};

/// For a floating type or component.
[[nodiscard]] Format format_of(spec::Type component);

/// Reads `count` elements of a component, any alignment; exact but for integers of over 53 bits,
/// which are rounded.
void load(spec::Type component, const std::byte* in, std::int64_t count, double* out);

}  // namespace rankcheck::numerics
