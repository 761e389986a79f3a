#pragma once

#include "harness/operation.hpp"

/// Laws of costs and their gradients by the object and the probe.
namespace rankcheck::cases {

enum class NoiseModel { gaussian, poisson };

/// The cost changes along a direction, of the object or of the probe, by 2 Re<gradient, change> and
/// no more beside than its curvature lets it.
template <NoiseModel noise>
[[nodiscard]] harness::Property has_derivative();

/// <object gradient, object> = <probe gradient, probe>, slice by slice, and it is real: what all
/// scale is the same light, and the cost does not see its phase.
[[nodiscard]] harness::Property balances_object_and_probe();

}  // namespace rankcheck::cases
