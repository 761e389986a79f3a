#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::barrier {

/// MPI_Barrier.
void mpi(mpi::Invocation& run) {
  run.issue("Barrier", MPI_Barrier, MPI_Ibarrier);
}

}  // namespace rankcheck::gpu::barrier
