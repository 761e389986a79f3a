#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::gather {

namespace {

void perform(mpi::Invocation& run) {
  run.issue(MPI_Gather,
            MPI_Igather,
            RANKCHECK_MPI_INIT(Gather),
            run.send_or_in_place(),
            run.count(),
            run.send_type(),
            run.recv(),
            run.count(),
            run.recv_type(),
            run.root());
}

}  // namespace

mpi::Operation mpi() {
  return {.blocking = {"MPI_Gather"},
          .nonblocking = {"MPI_Igather"},
          .persistent = {"MPI_Gather_init", "MPIX_Gather_init"},
          .perform = perform,
          .tuning = {.collective = "gather"}};
}

}  // namespace rankcheck::gpu::gather
