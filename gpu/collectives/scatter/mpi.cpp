#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::scatter {

namespace {

void perform(mpi::Invocation& run) {
  run.issue(MPI_Scatter,
            MPI_Iscatter,
            RANKCHECK_MPI_INIT(Scatter),
            run.send(),
            run.count(),
            run.send_type(),
            run.recv_or_in_place(),
            run.count(),
            run.recv_type(),
            run.root());
}

}  // namespace

mpi::Operation mpi() {
  return {.blocking = {"MPI_Scatter"},
          .nonblocking = {"MPI_Iscatter"},
          .persistent = {"MPI_Scatter_init", "MPIX_Scatter_init"},
          .perform = perform,
          .tuning = {.collective = "scatter"}};
}

}  // namespace rankcheck::gpu::scatter
