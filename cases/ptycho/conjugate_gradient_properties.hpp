#pragma once

#include <vector>

#include "harness/check/operation.hpp"

#include "cases/ptycho/derivative_properties.hpp"

/// Properties of the steps of conjugate gradients.
namespace rankcheck::cases {

/// The line search never raises the cost: the cost of the new state, computed again, is at most the
/// cost of the old state.
template <NoiseModel noise>
[[nodiscard]] harness::Property never_raises_the_cost();

/// Object and probe move by their step lengths along the directions that the step outputs. The
/// lengths are powers of two, as a search by halving finds them.
[[nodiscard]] harness::Property goes_along_its_directions();

/// step_properties(), and the properties of conjugate gradient steps for either cost.
template <NoiseModel noise>
[[nodiscard]] std::vector<harness::Property> conjugate_gradient_properties();

}  // namespace rankcheck::cases
