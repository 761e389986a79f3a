#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::reduce {

/// MPI_Reduce.
void mpi(mpi::Invocation& run) {
  mpi::Reduction reduction(run);
  run.issue("Reduce",
            MPI_Reduce,
            MPI_Ireduce,
            reduction.source(),
            run.recv(),
            run.count(),
            run.type(),
            reduction.op(),
            run.root());
  reduction.finish();
}

}  // namespace rankcheck::gpu::reduce
