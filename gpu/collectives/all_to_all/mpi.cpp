#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::all_to_all {

/// MPI_Alltoall.
void mpi(mpi::Invocation& run) {
  run.issue("Alltoall",
            MPI_Alltoall,
            MPI_Ialltoall,
            run.send_or_in_place(),
            run.count(),
            run.type(),
            run.recv(),
            run.count(),
            run.type());
}

}  // namespace rankcheck::gpu::all_to_all
