#pragma once

#include "gpu/ptycho/operator.hpp"
#include "gpu/ptycho/solvers/solver.hpp"

namespace rankcheck::gpu {

/// Runs the operation <kind>_step with the whole object on every rank.
void run_replicated_step(const OperatorRun& run,
                         StepKind kind,
                         Directions directions = Directions::by_every_rank);

/// Runs the operation <kind>_step with the part of the object under its windows on every rank.
void run_tiled_step(const OperatorRun& run, StepKind kind);

/// The algorithm `replicated` of a step.
template <StepKind kind>
[[nodiscard]] Operator replicated_step() {
  return {
      .name = "replicated",
      .summary =
          "Every rank has the whole object. The ranks' contributions are summed over all ranks.",
      .run = [](const OperatorRun& run) { run_replicated_step(run, kind); },
      .in_batches = true,
  };
}

/// The algorithm `gathered` of a step of conjugate gradients.
template <StepKind kind>
[[nodiscard]] Operator gathered_step() {
  static_assert(is_conjugate_gradient(kind));
  return {
      .name = "gathered",
      .summary =
          "Every rank has the whole object. Rank 0 gathers and sums the gradients, computes the "
          "directions, and sends both to all ranks.",
      .run = [](const OperatorRun& run) { run_replicated_step(run, kind, Directions::by_rank_0); },
      .in_batches = true,
  };
}

/// The algorithm `tiled` of a step.
template <StepKind kind>
[[nodiscard]] Operator tiled_step() {
  return {
      .name = "tiled",
      .summary =
          "Every rank has the part of the object under its windows. Ranks whose tiles overlap "
          "exchange their contributions.",
      .run = [](const OperatorRun& run) { run_tiled_step(run, kind); },
      .in_batches = true,
  };
}

}  // namespace rankcheck::gpu
