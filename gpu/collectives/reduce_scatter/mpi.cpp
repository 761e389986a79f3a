#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::reduce_scatter {

namespace {

void perform(mpi::Invocation& run) {
  mpi::Reduction reduction(run);
  run.issue(MPI_Reduce_scatter_block,
            MPI_Ireduce_scatter_block,
            RANKCHECK_MPI_INIT(Reduce_scatter_block),
            reduction.source(),
            run.recv(),
            run.count(),
            run.type(),
            reduction.op());
  reduction.finish();
}

}  // namespace

mpi::Operation mpi() {
  return {.blocking = {"MPI_Reduce_scatter_block"},
          .nonblocking = {"MPI_Ireduce_scatter_block"},
          .persistent = {"MPI_Reduce_scatter_block_init", "MPIX_Reduce_scatter_block_init"},
          .perform = perform,
          .reduces = true,
          .tuning = {.collective = "reduce_scatter_block",
                     .functions = {{"basic_linear", "reduce_scatter_block_basic_linear"}},
                     .in_order = {"basic_linear", "recursive_doubling", "butterfly"}}};
}

}  // namespace rankcheck::gpu::reduce_scatter
