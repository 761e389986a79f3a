#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::scatter {

/// MPI_Scatter.
void mpi(mpi::Invocation& run) {
  run.issue("Scatter",
            MPI_Scatter,
            MPI_Iscatter,
            run.send(),
            run.count(),
            run.type(),
            run.recv_or_in_place(),
            run.count(),
            run.type(),
            run.root());
}

}  // namespace rankcheck::gpu::scatter
