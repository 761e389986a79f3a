#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "gpu/ptycho/solver.hpp"

namespace rankcheck::gpu {

/// An array of what steps go on from, and where a rank has its part of it.
template <class T>
struct StateArray {
  spec::Array array;
  Complex<T>* SolverShare<T>::*part;
  /// It lies like the object; else like the probe, the whole of it on every rank.
  bool is_object;
};

/// All of them: object and probe, then what conjugate gradients remember.
template <class T>
inline constexpr std::array state_arrays{
    StateArray<T>{spec::Array::object, &SolverShare<T>::object, true},
    StateArray<T>{spec::Array::probe, &SolverShare<T>::probe, false},
    StateArray<T>{spec::Array::object_gradient, &SolverShare<T>::object_gradient, true},
    StateArray<T>{spec::Array::object_direction, &SolverShare<T>::object_direction, true},
    StateArray<T>{spec::Array::probe_gradient, &SolverShare<T>::probe_gradient, false},
    StateArray<T>{spec::Array::probe_direction, &SolverShare<T>::probe_direction, false},
};

/// Those that a kind of steps has: the first two, or all.
template <class T>
[[nodiscard]] constexpr std::span<const StateArray<T>> state_of(StepKind kind) {
  const std::span<const StateArray<T>> all(state_arrays<T>);
  return is_conjugate_gradient(kind) ? all : all.first(2);
}

/// Bytes on a rank's device for each pixel that it holds of the object, where so many copies of the
/// state are there.
template <class T>
[[nodiscard]] constexpr std::int64_t bytes_per_pixel(StepKind kind, int states) {
  constexpr std::int64_t value = sizeof(Complex<T>);
  std::int64_t state = 0;
  for (const StateArray<T>& each : state_of<T>(kind)) state += each.is_object ? value : 0;
  // Gradients and weights, a rank's own and all ranks' sums; conjugate gradients have no weights,
  // but a trial. Then, which pixels count.
  constexpr std::int64_t work = 2 * value + 2 * sizeof(T) + 1;
  return states * state + work;
}

}  // namespace rankcheck::gpu
