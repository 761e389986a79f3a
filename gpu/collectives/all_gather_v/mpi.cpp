#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::all_gather_v {

/// MPI_Allgatherv.
void mpi(mpi::Invocation& run) {
  const mpi::Blocks blocks(run.extents().recv);
  run.issue("Allgatherv",
            MPI_Allgatherv,
            MPI_Iallgatherv,
            run.send_or_in_place(),
            run.send_count(),
            run.type(),
            run.recv(),
            blocks.counts.data(),
            blocks.displacements.data(),
            run.type());
}

}  // namespace rankcheck::gpu::all_gather_v
