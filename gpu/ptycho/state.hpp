#pragma once

#include <array>
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

}  // namespace rankcheck::gpu
