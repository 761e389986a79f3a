#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "gpu/ptycho/solvers/solver.hpp"

namespace rankcheck::gpu {

/// How an array of the state is distributed over the ranks.
enum class Lies : std::uint8_t {
  /// Like the object: a rank has the part that it holds of the object.
  like_object,
  /// Like the probe: every rank has the whole array.
  like_probe,
  /// Like the frames: a rank has the values of its own positions.
  like_frames,
};

/// An array of the state that steps need, and the member that has a rank's part of it.
template <class T>
struct StateArray {
  spec::Array array;
  Complex<T>* SolverShare<T>::*part;
  Lies lies;
};

/// All arrays of the state: those of the difference map, then object and probe, then directions,
/// then the gradients of conjugate gradients.
template <class T>
inline constexpr std::array state_arrays{
    StateArray<T>{spec::Array::exit_waves, &SolverShare<T>::exit_waves, Lies::like_frames},
    StateArray<T>{spec::Array::object, &SolverShare<T>::object, Lies::like_object},
    StateArray<T>{spec::Array::probe, &SolverShare<T>::probe, Lies::like_probe},
    StateArray<T>{
        spec::Array::object_direction, &SolverShare<T>::object_direction, Lies::like_object},
    StateArray<T>{spec::Array::probe_direction, &SolverShare<T>::probe_direction, Lies::like_probe},
    StateArray<T>{
        spec::Array::object_gradient, &SolverShare<T>::object_gradient, Lies::like_object},
    StateArray<T>{spec::Array::probe_gradient, &SolverShare<T>::probe_gradient, Lies::like_probe},
};

/// The arrays of one kind of steps. Object and probe are always among them.
template <class T>
[[nodiscard]] constexpr std::span<const StateArray<T>> state_of(StepKind kind) {
  const std::span<const StateArray<T>> all(state_arrays<T>);
  if (kind == StepKind::difference_map) return all.first(3);
  if (is_conjugate_gradient(kind)) return all.subspan(1);
  return all.subspan(1, has_directions(kind) ? 4 : 2);
}

/// Bytes on a rank's device for each object pixel that it holds, with `states` copies of the state.
template <class T>
[[nodiscard]] constexpr std::int64_t bytes_per_pixel(StepKind kind, int states) {
  constexpr std::int64_t value = sizeof(Complex<T>);
  std::int64_t state = 0;
  for (const StateArray<T>& each : state_of<T>(kind)) {
    state += each.lies == Lies::like_object ? value : 0;
  }
  // The work arrays: gradient and weight, each once for the rank's own sum and once for the sum
  // over all ranks. One more byte says whether the pixel counts. Conjugate gradients have a trial
  // object in place of the weights, which takes the same space.
  constexpr std::int64_t work = 2 * value + 2 * sizeof(T) + 1;
  return states * state + work;
}

}  // namespace rankcheck::gpu
