#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "gpu/ptycho/solver.hpp"

namespace rankcheck::gpu {

/// How the ranks share an array of a state.
enum class Lies : std::uint8_t {
  /// Like the object: a rank has what it holds of it.
  like_object,
  /// Like the probe: every rank has the whole of it.
  like_probe,
  /// Like the frames: a rank has the copies of its own positions.
  like_frames,
};

/// An array of what steps go on from, and where a rank has its part of it.
template <class T>
struct StateArray {
  spec::Array array;
  Complex<T>* SolverShare<T>::*part;
  Lies lies;
};

/// All of them: what the difference map remembers, object and probe, then what conjugate gradients
/// remember.
template <class T>
inline constexpr std::array state_arrays{
    StateArray<T>{spec::Array::exit_waves, &SolverShare<T>::exit_waves, Lies::like_frames},
    StateArray<T>{spec::Array::object, &SolverShare<T>::object, Lies::like_object},
    StateArray<T>{spec::Array::probe, &SolverShare<T>::probe, Lies::like_probe},
    StateArray<T>{
        spec::Array::object_gradient, &SolverShare<T>::object_gradient, Lies::like_object},
    StateArray<T>{
        spec::Array::object_direction, &SolverShare<T>::object_direction, Lies::like_object},
    StateArray<T>{spec::Array::probe_gradient, &SolverShare<T>::probe_gradient, Lies::like_probe},
    StateArray<T>{spec::Array::probe_direction, &SolverShare<T>::probe_direction, Lies::like_probe},
};

/// Those that a kind of steps has; object and probe are always among them.
template <class T>
[[nodiscard]] constexpr std::span<const StateArray<T>> state_of(StepKind kind) {
  const std::span<const StateArray<T>> all(state_arrays<T>);
  if (kind == StepKind::difference_map) return all.first(3);
  return is_conjugate_gradient(kind) ? all.subspan(1) : all.subspan(1, 2);
}

/// Bytes on a rank's device for each pixel that it holds of the object, where so many copies of the
/// state are there.
template <class T>
[[nodiscard]] constexpr std::int64_t bytes_per_pixel(StepKind kind, int states) {
  constexpr std::int64_t value = sizeof(Complex<T>);
  std::int64_t state = 0;
  for (const StateArray<T>& each : state_of<T>(kind)) {
    state += each.lies == Lies::like_object ? value : 0;
  }
  // Gradients and weights, a rank's own and all ranks' sums; conjugate gradients have no weights,
  // but a trial. Then, which pixels count.
  constexpr std::int64_t work = 2 * value + 2 * sizeof(T) + 1;
  return states * state + work;
}

}  // namespace rankcheck::gpu
