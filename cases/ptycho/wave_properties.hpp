#pragma once

#include "harness/check/operation.hpp"

/// What single operators on waves claim: illumination, shifts, and propagation over a distance.
namespace rankcheck::cases {

/// illuminate(o, p) is extract(o) times p in the window, and 0 around it.
[[nodiscard]] harness::Property is_patch_times_probe();

/// Without evanescent frequencies, propagating back over the same distance returns the input.
[[nodiscard]] harness::Property is_undone_by_the_way_back();

/// Without evanescent frequencies, no energy is lost.
[[nodiscard]] harness::Property conserves_energy_of_short_waves();

/// Two distances one after the other are their sum at once.
[[nodiscard]] harness::Property adds_distances();

/// A shift by whole pixels moves the pixels cyclically.
[[nodiscard]] harness::Property rolls_by_whole_positions();

/// The far waves of shifted waves are those of the waves, times a phase ramp.
[[nodiscard]] harness::Property is_a_phase_ramp_at_the_detector();

}  // namespace rankcheck::cases
