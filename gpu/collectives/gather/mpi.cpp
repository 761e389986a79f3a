#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::gather {

/// MPI_Gather.
void mpi(mpi::Invocation& run) {
  run.issue("Gather",
            MPI_Gather,
            MPI_Igather,
            run.send_or_in_place(),
            run.count(),
            run.type(),
            run.recv(),
            run.count(),
            run.type(),
            run.root());
}

}  // namespace rankcheck::gpu::gather
