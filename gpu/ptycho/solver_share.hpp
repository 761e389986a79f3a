#pragma once

#include <cstdint>

#include "gpu/device/complex.hpp"

/// What the steps of all solvers take and give.
namespace rankcheck::gpu {

/// One local rank's data and state, in its device's memory. Steps change what is not const.
template <class T>
struct SolverShare {
  /// Of `count` windows, relative to the first pixel of the object that the rank holds; see
  /// move_positions().
  const T* positions = nullptr;
  const T* frames = nullptr;
  /// Null where every pixel is measured.
  const T* mask = nullptr;
  /// Positions of this rank; may be 0, and another number in every step.
  std::int64_t count = 0;
  /// What the rank holds of the object; of a pixel that several ranks hold, all have the same bits.
  Complex<T>* object = nullptr;
  /// [modes, window, window], the same bits on all ranks.
  Complex<T>* probe = nullptr;
  /// Of conjugate gradients alone, as object and probe; all zeros before the first step.
  Complex<T>* object_gradient = nullptr;
  Complex<T>* object_direction = nullptr;
  Complex<T>* probe_gradient = nullptr;
  Complex<T>* probe_direction = nullptr;
  /// Of the difference map alone: [count, modes, detector, detector], which begins as what leaves
  /// the first object; see Solver::illuminate().
  Complex<T>* exit_waves = nullptr;
};

/// What a step tells; the same on all ranks.
struct StepReport {
  /// Of all ranks' frames, before the step.
  double cost = 0;
  /// How far conjugate gradients and LSQML went along their directions; 0 of other steps.
  double object_length = 0;
  double probe_length = 0;
};

}  // namespace rankcheck::gpu
