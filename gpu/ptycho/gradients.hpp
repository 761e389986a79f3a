#pragma once

#include <string_view>

#include "gpu/ptycho/model.hpp"
#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu {

/// A local rank's share of the problem in its inputs.
template <class T>
[[nodiscard]] Exposure<T> exposure_of(const OperatorRun& run, int rank) {
  return {.object = run.in<Complex<T>>(rank, spec::Array::object),
          .probe = run.in<Complex<T>>(rank, spec::Array::probe),
          .positions = run.in<T>(rank, spec::Array::positions),
          .frames = run.in<T>(rank, spec::Array::frames),
          .mask = run.in<T>(rank, spec::Array::mask),
          .count = run.positions(rank)};
}

/// The cost and its gradients of all ranks' frames, on every rank: each rank's own part first, then
/// sums over the ranks. What gaussian_gradients and poisson_gradients do.
void run_gradients(const OperatorRun& run, Noise noise, Passes passes);

/// For algorithms that know one slice only.
[[nodiscard]] std::string_view refuses_slices(const spec::Call& call);

}  // namespace rankcheck::gpu
