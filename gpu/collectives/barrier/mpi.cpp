#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::barrier {

namespace {

void perform(mpi::Invocation& run) {
  run.issue(RANKCHECK_MPI_FORMS(Barrier, Ibarrier));
}

}  // namespace

mpi::Operation mpi() {
  return {.blocking = {"MPI_Barrier"},
          .nonblocking = {"MPI_Ibarrier"},
          .persistent = {"MPI_Barrier_init", "MPIX_Barrier_init"},
          .perform = perform,
          .tuning = {.collective = "barrier"}};
}

}  // namespace rankcheck::gpu::barrier
