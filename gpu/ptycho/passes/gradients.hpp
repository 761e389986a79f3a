#pragma once

#include <string_view>

#include "gpu/ptycho/operator.hpp"
#include "gpu/ptycho/passes/model.hpp"

namespace rankcheck::gpu {

/// A local rank's share of the problem, from its input arrays.
template <class T>
[[nodiscard]] ScanShare<T> scan_of(const OperatorRun& run, int rank) {
  return {.object = run.in<Complex<T>>(rank, spec::Array::object),
          .probe = run.in<Complex<T>>(rank, spec::Array::probe),
          .positions = run.in<T>(rank, spec::Array::positions),
          .frames = run.in<T>(rank, spec::Array::frames),
          .mask = run.in<T>(rank, spec::Array::mask),
          .count = run.positions(rank)};
}

/// Runs gaussian_gradients or poisson_gradients: every rank gets the cost of all ranks' frames and
/// its gradients. Each rank computes its own part, then the parts are summed over the ranks.
void run_gradients(const OperatorRun& run, Noise noise, Passes passes);

/// Refuses several slices. For algorithms that support only one.
[[nodiscard]] std::string_view refuses_slices(const spec::OperatorCall& call);

}  // namespace rankcheck::gpu
