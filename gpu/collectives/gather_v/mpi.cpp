#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::gather_v {

namespace {

void perform(mpi::Invocation& run) {
  const mpi::Blocks blocks(run.extents().recv);
  run.issue(RANKCHECK_MPI_FORMS(Gatherv, Igatherv),
            run.send_or_in_place(),
            run.send_count(),
            run.send_type(),
            run.recv(),
            blocks.counts.data(),
            blocks.displacements.data(),
            run.recv_type(),
            run.root());
}

}  // namespace

mpi::Operation mpi() {
  return {.blocking = {"MPI_Gatherv"},
          .nonblocking = {"MPI_Igatherv"},
          .persistent = {"MPI_Gatherv_init", "MPIX_Gatherv_init"},
          .perform = perform,
          .tuning = {.collective = "gatherv"}};
}

}  // namespace rankcheck::gpu::gather_v
