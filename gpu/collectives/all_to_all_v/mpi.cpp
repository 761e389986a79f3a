#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::all_to_all_v {

namespace {

void perform(mpi::Invocation& run) {
  const mpi::Blocks from(run.extents().send);
  const mpi::Blocks to(run.extents().recv);
  run.issue(MPI_Alltoallv,
            MPI_Ialltoallv,
            RANKCHECK_MPI_INIT(Alltoallv),
            run.send_or_in_place(),
            from.counts.data(),
            from.displacements.data(),
            run.type(),
            run.recv(),
            to.counts.data(),
            to.displacements.data(),
            run.type());
}

/// Says why Open MPI 4.1 would not run the forced algorithm; empty if it does run it.
std::string_view why_unforceable(std::string_view /*word*/, const mpi::ForcedUse& use) {
  return use.in_place ? "in_place: Open MPI has only one algorithm in place" : "";
}

}  // namespace

mpi::Operation mpi() {
  return {.blocking = {"MPI_Alltoallv"},
          .nonblocking = {"MPI_Ialltoallv"},
          .persistent = {"MPI_Alltoallv_init", "MPIX_Alltoallv_init"},
          .perform = perform,
          .tuning = {.collective = "alltoallv", .why_unforceable = why_unforceable}};
}

}  // namespace rankcheck::gpu::all_to_all_v
