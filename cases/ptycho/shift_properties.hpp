#pragma once

#include "harness/check/operation.hpp"

/// What shifts of waves claim besides other operators.
namespace rankcheck::cases {

/// A shift by whole pixels moves the pixels cyclically.
[[nodiscard]] harness::Property rolls_by_whole_positions();

/// The far waves of shifted waves are those of the waves, times a phase ramp.
[[nodiscard]] harness::Property is_a_phase_ramp_at_the_detector();

}  // namespace rankcheck::cases
