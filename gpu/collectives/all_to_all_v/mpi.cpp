#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::all_to_all_v {

/// MPI_Alltoallv.
void mpi(mpi::Invocation& run) {
  const mpi::Blocks from(run.extents().send);
  const mpi::Blocks to(run.extents().recv);
  run.issue("Alltoallv",
            MPI_Alltoallv,
            MPI_Ialltoallv,
            run.send_or_in_place(),
            from.counts.data(),
            from.displacements.data(),
            run.type(),
            run.recv(),
            to.counts.data(),
            to.displacements.data(),
            run.type());
}

}  // namespace rankcheck::gpu::all_to_all_v
