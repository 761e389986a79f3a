#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::reduce {

namespace {

void perform(mpi::Invocation& run) {
  mpi::issue_reduction(run, RANKCHECK_MPI_FORMS(Reduce, Ireduce), run.count(), run.root());
}

/// Says why Open MPI 4.1 would not run the forced algorithm; empty if it does run it.
std::string_view why_unforceable(std::string_view word, const mpi::ForcedUse& use) {
  if (word == "rabenseifner" && use.call.count < use.power_of_two()) {
    return "count: with fewer elements than ranks, Open MPI falls back to linear";
  }
  return {};
}

}  // namespace

mpi::Operation mpi() {
  return {.blocking = {"MPI_Reduce"},
          .nonblocking = {"MPI_Ireduce"},
          .persistent = {"MPI_Reduce_init", "MPIX_Reduce_init"},
          .perform = perform,
          .reduces = true,
          .tuning = {.collective = "reduce",
                     .functions = {{"rabenseifner", "reduce_intra_redscat_gather"}},
                     .in_order = {"linear", "in-order_binary"},
                     .why_unforceable = why_unforceable}};
}

}  // namespace rankcheck::gpu::reduce
