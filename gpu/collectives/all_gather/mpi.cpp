#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::all_gather {

namespace {

void perform(mpi::Invocation& run) {
  run.issue_blocks(RANKCHECK_MPI_FORMS(Allgather, Iallgather), run.send_or_in_place(), run.recv());
}

/// Says why Open MPI 4.1 would not run the forced algorithm; empty if it does run it.
std::string_view why_unforceable(std::string_view word, const mpi::ForcedUse& use) {
  if (word == "recursive_doubling" && use.call.ranks != use.power_of_two()) {
    return "ranks: Open MPI falls back to bruck unless their number is a power of two";
  }
  return {};
}

}  // namespace

mpi::Operation mpi() {
  return {.blocking = {"MPI_Allgather"},
          .nonblocking = {"MPI_Iallgather"},
          .persistent = {"MPI_Allgather_init", "MPIX_Allgather_init"},
          .perform = perform,
          .has_layouts = true,
          .tuning = {.collective = "allgather", .why_unforceable = why_unforceable}};
}

}  // namespace rankcheck::gpu::all_gather
