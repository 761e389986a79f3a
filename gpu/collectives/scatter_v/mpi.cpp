#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::scatter_v {

/// MPI_Scatterv.
void mpi(mpi::Invocation& run) {
  const mpi::Blocks blocks(run.extents().send);
  run.issue("Scatterv",
            MPI_Scatterv,
            MPI_Iscatterv,
            run.send(),
            blocks.counts.data(),
            blocks.displacements.data(),
            run.type(),
            run.recv_or_in_place(),
            run.recv_count(),
            run.type(),
            run.root());
}

}  // namespace rankcheck::gpu::scatter_v
