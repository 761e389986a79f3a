#pragma once

#include "harness/check/operation.hpp"

/// What propagation over a distance claims besides other operators.
namespace rankcheck::cases {

/// Without evanescent frequencies, propagating back over the same distance returns the input.
[[nodiscard]] harness::Property is_undone_by_the_way_back();

/// Without evanescent frequencies, no energy is lost.
[[nodiscard]] harness::Property conserves_energy_of_short_waves();

/// Two distances one after the other are their sum at once.
[[nodiscard]] harness::Property adds_distances();

}  // namespace rankcheck::cases
