#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::scatter_v {

namespace {

void perform(mpi::Invocation& run) {
  const mpi::Blocks blocks(run.extents().send);
  run.issue(RANKCHECK_MPI_FORMS(Scatterv, Iscatterv),
            run.send(),
            blocks.counts.data(),
            blocks.displacements.data(),
            run.send_type(),
            run.recv_or_in_place(),
            run.recv_count(),
            run.recv_type(),
            run.root());
}

}  // namespace

mpi::Operation mpi() {
  return {.blocking = {"MPI_Scatterv"},
          .nonblocking = {"MPI_Iscatterv"},
          .persistent = {"MPI_Scatterv_init", "MPIX_Scatterv_init"},
          .perform = perform,
          .tuning = {.collective = "scatterv"}};
}

}  // namespace rankcheck::gpu::scatter_v
