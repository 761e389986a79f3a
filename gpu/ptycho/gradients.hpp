#pragma once

#include "gpu/ptycho/model.hpp"
#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu {

/// The cost and its gradients of all ranks' frames, on every rank: each rank's own part first, then
/// sums over the ranks. What gaussian_gradients and poisson_gradients do.
void run_gradients(const OperatorRun& run, Noise noise);

}  // namespace rankcheck::gpu
