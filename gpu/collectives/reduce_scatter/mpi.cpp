#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::reduce_scatter {

/// MPI_Reduce_scatter_block.
void mpi(mpi::Invocation& run) {
  mpi::Reduction reduction(run);
  run.issue("Reduce_scatter_block",
            MPI_Reduce_scatter_block,
            MPI_Ireduce_scatter_block,
            reduction.source(),
            run.recv(),
            run.count(),
            run.type(),
            reduction.op());
  reduction.finish();
}

}  // namespace rankcheck::gpu::reduce_scatter
