#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::scatter_v {

namespace {

void perform(mpi::Invocation& run) {
  const mpi::Blocks blocks(run.extents().send);
  run.issue(MPI_Scatterv,
            MPI_Iscatterv,
            RANKCHECK_MPI_INIT(Scatterv),
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
