#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::barrier {

namespace {

void perform(mpi::Invocation& run) {
  run.issue(MPI_Barrier, MPI_Ibarrier);
}

}  // namespace

mpi::Operation mpi() {
  return {.blocking = {"MPI_Barrier"},
          .nonblocking = {"MPI_Ibarrier"},
          .perform = perform,
          .tuning = {.collective = "barrier"}};
}

}  // namespace rankcheck::gpu::barrier
