#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::scatter {

namespace {

void perform(mpi::Invocation& run) {
  run.issue_blocks(
      RANKCHECK_MPI_FORMS(Scatter, Iscatter), run.send(), run.recv_or_in_place(), run.root());
}

}  // namespace

mpi::Operation mpi() {
  return {.blocking = {"MPI_Scatter"},
          .nonblocking = {"MPI_Iscatter"},
          .persistent = {"MPI_Scatter_init", "MPIX_Scatter_init"},
          .perform = perform,
          .has_layouts = true,
          .tuning = {.collective = "scatter"}};
}

}  // namespace rankcheck::gpu::scatter
