#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::reduce_scatter_v {

/// MPI_Reduce_scatter, which knows no gaps between the blocks.
void mpi(mpi::Invocation& run) {
  mpi::Reduction reduction(run);
  const mpi::Blocks blocks(run.extents().send);
  run.issue("Reduce_scatter",
            MPI_Reduce_scatter,
            MPI_Ireduce_scatter,
            reduction.source(),
            run.recv(),
            blocks.counts.data(),
            run.type(),
            reduction.op());
  reduction.finish();
}

}  // namespace rankcheck::gpu::reduce_scatter_v
