#include "gpu/ptycho/passes/cost.hpp"
#include "gpu/ptycho/passes/gradients.hpp"
#include "gpu/ptycho/registry.hpp"

namespace rankcheck::gpu {

namespace {

template <Noise noise>
Operator fused_cost() {
  return {
      .name = "fused",
      .summary =
          "One pass computes intensity, cost and gradient. Each thread computes several pixels of "
          "a frame.",
      .run = [](const OperatorRun& run) { run_fused_cost(run, noise); },
      .in_batches = true,
  };
}

template <Noise noise>
Operator pixelwise_cost() {
  return {
      .name = "pixelwise",
      .summary =
          "One thread computes each pixel of a frame. The costs are summed by row, by rank and "
          "over all ranks.",
      .run = [](const OperatorRun& run) { run_cost<noise>(run); },
  };
}

template <Noise noise>
Operator batched_gradients() {
  return {
      .name = "batched",
      .summary =
          "The whole chain runs for one batch of frames at a time, then the ranks' results are "
          "summed.",
      .run = [](const OperatorRun& run) { run_gradients(run, noise, Passes::batched); },
      .in_batches = true,
  };
}

template <Noise noise>
Operator fused_gradients() {
  return {
      .name = "fused",
      .summary =
          "The chain runs in five passes and two transforms over large batches. The object has one "
          "slice.",
      .refuses = refuses_slices,
      .run = [](const OperatorRun& run) { run_gradients(run, noise, Passes::fused); },
      .in_batches = true,
  };
}

}  // namespace

std::vector<OperatorImplementation> algorithms_of_costs() {
  return {
      {"gaussian_cost", fused_cost<Noise::gaussian>()},
      {"gaussian_cost", pixelwise_cost<Noise::gaussian>()},
      {"gaussian_gradients", batched_gradients<Noise::gaussian>()},
      {"gaussian_gradients", fused_gradients<Noise::gaussian>()},
      {"poisson_cost", fused_cost<Noise::poisson>()},
      {"poisson_cost", pixelwise_cost<Noise::poisson>()},
      {"poisson_gradients", batched_gradients<Noise::poisson>()},
      {"poisson_gradients", fused_gradients<Noise::poisson>()},
  };
}

}  // namespace rankcheck::gpu
