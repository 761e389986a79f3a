#pragma once

#include "harness/check/operation.hpp"

/// Properties of costs and their gradients in the object and the probe.
namespace rankcheck::cases {

enum class NoiseModel { gaussian, poisson };

/// The cost changes by 2 Re<gradient, change> along a direction of the object or the probe. The
/// remainder is bounded by the cost's curvature.
template <NoiseModel noise>
[[nodiscard]] harness::Property has_derivative();

/// <object gradient, object> = <probe gradient, probe> for every slice, and the value is real. The
/// reason: scaling either of them scales the waves in the same way, and the cost does not depend on
/// a constant phase.
[[nodiscard]] harness::Property balances_object_and_probe();

}  // namespace rankcheck::cases
