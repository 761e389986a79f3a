#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::gather {

namespace {

void perform(mpi::Invocation& run) {
  const mpi::BlockType from = run.send_block();
  const mpi::BlockType to = run.recv_block();
  run.issue(MPI_Gather,
            MPI_Igather,
            RANKCHECK_MPI_INIT(Gather),
            run.send_or_in_place(),
            from.count(),
            from.type(),
            run.recv(),
            to.count(),
            to.type(),
            run.root());
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
