#pragma once

#include <cstdint>

#include "gpu/device/complex.hpp"

/// The input and output of the steps of all solvers.
namespace rankcheck::gpu {

/// One local rank's data and state, in its device's memory. The owner is the caller. Steps change
/// the arrays that are not const.
template <class T>
struct SolverShare {
  /// The positions of `count` windows in pixels, relative to the first pixel of the object that the
  /// rank holds; see move_positions().
  const T* positions = nullptr;
  const T* frames = nullptr;
  /// Null if every pixel is measured.
  const T* mask = nullptr;
  /// The number of positions of this rank. It may be 0, and may change in every step.
  std::int64_t count = 0;
  /// The part of the object that the rank holds. If several ranks hold a pixel, all copies have the
  /// same bits.
  Complex<T>* object = nullptr;
  /// Shape [modes, window, window], with the same bits on all ranks.
  Complex<T>* probe = nullptr;
  /// Used by conjugate gradients only, with the shapes of object and probe. All values are zero
  /// before the first step.
  Complex<T>* object_gradient = nullptr;
  Complex<T>* probe_gradient = nullptr;
  /// Used by conjugate gradients and momentum, as the gradients are.
  Complex<T>* object_direction = nullptr;
  Complex<T>* probe_direction = nullptr;
  /// Used by the difference map only: [count, modes, detector, detector]. Before the first step,
  /// these are the waves that leave the object; see Solver::illuminate().
  Complex<T>* exit_waves = nullptr;
};

/// Who sums the gradients of conjugate gradients and computes the directions.
enum class Directions : std::uint8_t {
  /// Every rank gets the sums over all ranks, and computes its own copy or part.
  by_every_rank,
  /// Rank 0 gathers and sums the gradients, computes the directions, and sends both to all ranks.
  /// Every rank must hold the whole object.
  by_rank_0,
};

/// The report of a step. It is the same on all ranks.
struct StepReport {
  /// The cost of all ranks' frames before the step.
  double cost = 0;
  /// The step lengths of conjugate gradients and LSQML along their directions; 0 for other steps.
  double object_length = 0;
  double probe_length = 0;
};

}  // namespace rankcheck::gpu
