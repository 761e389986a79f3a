#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::gather {

namespace {

void perform(mpi::Invocation& run) {
  run.issue_blocks(
      RANKCHECK_MPI_FORMS(Gather, Igather), run.send_or_in_place(), run.recv(), run.root());
}

}  // namespace

mpi::Operation mpi() {
  return {.blocking = {"MPI_Gather"},
          .nonblocking = {"MPI_Igather"},
          .persistent = {"MPI_Gather_init", "MPIX_Gather_init"},
          .perform = perform,
          .has_layouts = true,
          .tuning = {.collective = "gather"}};
}

}  // namespace rankcheck::gpu::gather
