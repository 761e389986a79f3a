#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::scatter {

namespace {

void perform(mpi::Invocation& run) {
  const mpi::BlockType from = run.send_block();
  const mpi::BlockType to = run.recv_block();
  run.issue(MPI_Scatter,
            MPI_Iscatter,
            RANKCHECK_MPI_INIT(Scatter),
            run.send(),
            from.count(),
            from.type(),
            run.recv_or_in_place(),
            to.count(),
            to.type(),
            run.root());
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
