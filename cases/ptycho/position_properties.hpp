#pragma once

#include "harness/check/operation.hpp"

/// Properties of operators whose outputs all belong to single positions: no position depends on the
/// others.
namespace rankcheck::cases {

/// How closely results that should be the same must agree.
enum class Match {
  /// The results are equal for all inputs. For operators whose contracts promise this.
  exact,
  /// The results differ by at most the sum of their bounds. For operators with Fourier transforms:
  /// FFTW uses other code for unaligned frames, and cuFFT uses another plan for another number of
  /// frames.
  bounded,
};

/// A position's result does not depend on the order or the number of the other positions. The seed
/// of the data chooses how many positions are left out.
template <Match match>
[[nodiscard]] harness::Property takes_each_position_alone();

}  // namespace rankcheck::cases
