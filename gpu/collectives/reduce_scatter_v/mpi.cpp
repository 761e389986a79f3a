#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::reduce_scatter_v {

namespace {

/// MPI_Reduce_scatter has no displacements: its blocks follow one another without gaps.
void perform(mpi::Invocation& run) {
  mpi::Reduction reduction(run);
  const mpi::Blocks blocks(run.extents().send);
  run.issue(MPI_Reduce_scatter,
            MPI_Ireduce_scatter,
            RANKCHECK_MPI_INIT(Reduce_scatter),
            reduction.source(),
            run.recv(),
            blocks.counts.data(),
            run.type(),
            reduction.op());
  reduction.finish();
}

}  // namespace

mpi::Operation mpi() {
  return {.blocking = {"MPI_Reduce_scatter"},
          .nonblocking = {"MPI_Ireduce_scatter"},
          .persistent = {"MPI_Reduce_scatter_init", "MPIX_Reduce_scatter_init"},
          .perform = perform,
          .reduces = true,
          .tuning = {
              .collective = "reduce_scatter",
              .functions = {{"recursive_halving", "reduce_scatter_intra_basic_recursivehalving"}},
              .in_order = {"non-overlapping", "butterfly"}}};
}

}  // namespace rankcheck::gpu::reduce_scatter_v
