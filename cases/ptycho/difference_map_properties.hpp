#pragma once

#include "harness/check/operation.hpp"

/// Properties of the steps of the difference map.
namespace rankcheck::cases {

/// A property of the difference map. The frames have twice the amplitudes that object and probe
/// make, at whole pixels, and all pixels are measured. The exit waves w are those of object and
/// probe. Then object and probe stay, and w becomes (1 + beta) w.
[[nodiscard]] harness::Property waves_grow_by_beta();

/// A property of the difference map, for any start. The sum of two waves has the measured
/// amplitudes at all lit pixels. One is the wave of the new object and probe. The other is the
/// change of the exit wave, divided by beta. So object and probe make the frames if no exit wave
/// changes.
[[nodiscard]] harness::Property fixed_points_are_solutions();

}  // namespace rankcheck::cases
