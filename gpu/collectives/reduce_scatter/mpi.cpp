#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::reduce_scatter {

namespace {

void perform(mpi::Invocation& run) {
  mpi::issue_reduction(
      run, RANKCHECK_MPI_FORMS(Reduce_scatter_block, Ireduce_scatter_block), run.count());
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
