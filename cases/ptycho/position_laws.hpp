#pragma once

#include "harness/operation.hpp"

/// Laws of operators whose outputs are all of positions: one does not see the others.
namespace rankcheck::cases {

/// How near to one another results are that must be the same.
enum class Match {
  /// Equal, whatever the inputs. Of operators whose contracts promise this.
  exact,
  /// Within both results' bounds. Of operators that take Fourier transforms: FFTW uses another code
  /// for frames that lie unaligned, and cuFFT another plan for another number of frames.
  bounded,
};

/// No position's result depends on the others, that is on their order and on how many there are.
/// The data decide how many come off the end.
template <Match match>
[[nodiscard]] harness::Property takes_each_position_alone();

}  // namespace rankcheck::cases
