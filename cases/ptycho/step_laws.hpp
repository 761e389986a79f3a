#pragma once

#include <vector>

#include "harness/operation.hpp"

/// Laws of the steps of solvers, which make a new object and a new probe.
namespace rankcheck::cases {

/// Where the frames are what object and probe make, a step leaves both as they are, but for
/// roundings. `on_whole_pixels`: of steps that fit the object to its patches, which interpolation
/// lets them do at whole pixels alone.
[[nodiscard]] harness::Property keeps_the_truth();
[[nodiscard]] harness::Property keeps_the_truth_on_whole_pixels();

/// A line search: the cost of the new state, computed anew, is not above that of the old one.
[[nodiscard]] harness::Property never_raises_the_cost();

/// Object and probe moved by their lengths along the directions that came out, and the lengths are
/// those of a search that halves.
[[nodiscard]] harness::Property goes_along_its_directions();

/// What every step claims: its reference, the same again, and independence of how the positions are
/// shared out and ordered.
[[nodiscard]] std::vector<harness::Property> step_properties();

}  // namespace rankcheck::cases
