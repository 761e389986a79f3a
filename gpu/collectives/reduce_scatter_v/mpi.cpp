#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::reduce_scatter_v {

namespace {

/// MPI_Reduce_scatter has no displacements: its blocks follow one another without gaps.
void perform(mpi::Invocation& run) {
  const mpi::Blocks blocks(run.extents().send);
  mpi::issue_reduction(
      run, RANKCHECK_MPI_FORMS(Reduce_scatter, Ireduce_scatter), blocks.counts.data());
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
