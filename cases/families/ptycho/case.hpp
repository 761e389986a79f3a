#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "reference/spec/operator.hpp"
#include "reference/spec/scene.hpp"

#include "harness/case/case.hpp"

#include "cases/families/ptycho/symmetry.hpp"

namespace rankcheck::cases {

/// Where the scan positions of an operator lie; see inputs.hpp.
enum class Scan : std::uint8_t {
  /// Anywhere the window fits, in steps of 1/256 pixel.
  scattered,
  /// At whole pixels.
  whole,
  /// All positions at one place.
  coincident,
  /// In a corner or at an edge of the area in which the window fits.
  bordering,
  /// Anywhere, even if the window hangs over the object's edge or misses the object.
  overhanging,
};

/// The scans' names, in the order of the enumerators.
inline constexpr std::array<std::string_view, 5> scan_names{
    "scattered", "whole", "coincident", "bordering", "overhanging"};

[[nodiscard]] std::string_view name(Scan scan);

/// The fields that only cases of operators have.
struct PtychoCase {
  static constexpr std::string_view family = spec::OperatorTraits::family;

  spec::Scene scene;
  Scan scan = Scan::scattered;
  /// The array that scale and added_seed apply to.
  spec::Array varied = spec::Array::none;
  /// How often the added inputs are halved.
  int halvings = 0;
  /// How all inputs are transformed, as the last step. `scene` describes the transformed inputs.
  Symmetry symmetry = Symmetry::plain;
  /// Whether arrays that an earlier stage made are taken from that stage.
  bool chained = false;
  /// Every position is moved by this many whole pixels in both directions.
  int moved = 0;

  friend bool operator==(const PtychoCase&, const PtychoCase&) = default;
};

/// The operator's part of a case. The non-const overload is for changing it: its reference is valid
/// until the case is copied.
[[nodiscard]] inline const PtychoCase& ptycho(const harness::Case& c) {
  return c.part.get<PtychoCase>();
}
[[nodiscard]] inline PtychoCase& ptycho(harness::Case& c) {
  return c.part.edit<PtychoCase>();
}

using spec::ptycho;

/// The call that the group's members make.
[[nodiscard]] spec::OperatorCall operator_call(const harness::Case& c);

}  // namespace rankcheck::cases
