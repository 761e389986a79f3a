#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::gather_v {

/// MPI_Gatherv.
void mpi(mpi::Invocation& run) {
  const mpi::Blocks blocks(run.extents().recv);
  run.issue("Gatherv",
            MPI_Gatherv,
            MPI_Igatherv,
            run.send_or_in_place(),
            run.send_count(),
            run.type(),
            run.recv(),
            blocks.counts.data(),
            blocks.displacements.data(),
            run.type(),
            run.root());
}

}  // namespace rankcheck::gpu::gather_v
