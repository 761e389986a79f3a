#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::all_reduce {

/// MPI_Allreduce.
void mpi(mpi::Invocation& run) {
  mpi::Reduction reduction(run);
  run.issue("Allreduce",
            MPI_Allreduce,
            MPI_Iallreduce,
            reduction.source(),
            run.recv(),
            run.count(),
            run.type(),
            reduction.op());
  reduction.finish();
}

}  // namespace rankcheck::gpu::all_reduce
