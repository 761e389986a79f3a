#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::all_reduce {

namespace {

void perform(mpi::Invocation& run) {
  mpi::issue_reduction(run, RANKCHECK_MPI_FORMS(Allreduce, Iallreduce), run.count());
}

/// Says why Open MPI 4.1 would not run the forced algorithm; empty if it does run it.
std::string_view why_unforceable(std::string_view word, const mpi::ForcedUse& use) {
  if (word == "ring" && use.call.count < use.call.ranks) {
    return "count: with fewer elements than ranks, Open MPI falls back to recursive doubling";
  }
  if (word == "segmented_ring" && use.call.count < use.call.ranks * use.segment_elements) {
    return "count: with less than one segment per rank, Open MPI falls back to ring";
  }
  if (word == "rabenseifner" && use.call.count < use.power_of_two()) {
    return "count: with fewer elements than ranks, Open MPI falls back to linear";
  }
  return {};
}

}  // namespace

mpi::Operation mpi() {
  return {.blocking = {"MPI_Allreduce"},
          .nonblocking = {"MPI_Iallreduce"},
          .persistent = {"MPI_Allreduce_init", "MPIX_Allreduce_init"},
          .perform = perform,
          .reduces = true,
          .tuning = {.collective = "allreduce",
                     .functions = {{"rabenseifner", "allreduce_intra_redscat_allgather"}},
                     .in_order = {"basic_linear", "nonoverlapping", "recursive_doubling"},
                     .why_unforceable = why_unforceable}};
}

}  // namespace rankcheck::gpu::all_reduce
