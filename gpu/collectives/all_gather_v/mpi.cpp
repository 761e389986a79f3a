#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::all_gather_v {

namespace {

void perform(mpi::Invocation& run) {
  const mpi::Blocks blocks(run.extents().recv);
  run.issue(RANKCHECK_MPI_FORMS(Allgatherv, Iallgatherv),
            run.send_or_in_place(),
            run.send_count(),
            run.send_type(),
            run.recv(),
            blocks.counts.data(),
            blocks.displacements.data(),
            run.recv_type());
}

}  // namespace

mpi::Operation mpi() {
  return {.blocking = {"MPI_Allgatherv"},
          .nonblocking = {"MPI_Iallgatherv"},
          .persistent = {"MPI_Allgatherv_init", "MPIX_Allgatherv_init"},
          .perform = perform,
          .tuning = {.collective = "allgatherv"}};
}

}  // namespace rankcheck::gpu::all_gather_v
