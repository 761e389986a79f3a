#pragma once

#include "harness/check/operation.hpp"

namespace rankcheck::cases {

/// The step is ePIE's step plus b times the old directions, for b = momentum_beta; so from
/// directions of 0, it is ePIE's step. The new directions are the changes of object and probe.
[[nodiscard]] harness::Property is_epie_with_memory();

/// If the frames are those of object and probe, the gradients are only rounding errors. Object and
/// probe then move by b times the old directions, which are also the new ones.
[[nodiscard]] harness::Property coasts_at_the_truth();

}  // namespace rankcheck::cases
