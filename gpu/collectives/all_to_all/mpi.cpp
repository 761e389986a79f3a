#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::all_to_all {

namespace {

void perform(mpi::Invocation& run) {
  run.issue_blocks(RANKCHECK_MPI_FORMS(Alltoall, Ialltoall), run.send_or_in_place(), run.recv());
}

/// Says why Open MPI 4.1 would not run the forced algorithm; empty if it does run it.
std::string_view why_unforceable(std::string_view /*word*/, const mpi::ForcedUse& use) {
  return use.in_place ? "in_place: Open MPI has only one algorithm in place" : "";
}

}  // namespace

mpi::Operation mpi() {
  return {.blocking = {"MPI_Alltoall"},
          .nonblocking = {"MPI_Ialltoall"},
          .persistent = {"MPI_Alltoall_init", "MPIX_Alltoall_init"},
          .perform = perform,
          .has_layouts = true,
          .tuning = {.collective = "alltoall", .why_unforceable = why_unforceable}};
}

}  // namespace rankcheck::gpu::all_to_all
