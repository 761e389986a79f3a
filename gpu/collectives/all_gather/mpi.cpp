#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::all_gather {

/// MPI_Allgather.
void mpi(mpi::Invocation& run) {
  run.issue("Allgather",
            MPI_Allgather,
            MPI_Iallgather,
            run.send_or_in_place(),
            run.count(),
            run.type(),
            run.recv(),
            run.count(),
            run.type());
}

}  // namespace rankcheck::gpu::all_gather
