#include <algorithm>
#include <cstddef>

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
            run.send_type(),
            run.recv(),
            to.counts.data(),
            to.displacements.data(),
            run.recv_type());
}

/// In Open MPI 4, a rank without elements returns before it has counted the call, so that later
/// nonblocking calls on the communicator wait for ever; see nonblocking_in_place.c among the pinned
/// cases.
std::string_view why_only_blocking([[maybe_unused]] const spec::Call& call,
                                   [[maybe_unused]] bool in_place) {
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
  if (!in_place) return {};
  bool some = false;
  bool none = false;
  for (int r = 0; r < call.ranks; ++r) {
    const auto row = call.counts.begin() + std::ptrdiff_t{r} * call.ranks;
    const bool has_elements = std::any_of(row, row + call.ranks, [](auto n) { return n > 0; });
    (has_elements ? some : none) = true;
  }
  if (some && none) return "in_place: after such a call, Open MPI 4 hangs if some rank has nothing";
#endif
  return {};
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
          .why_only_blocking = why_only_blocking,
          .tuning = {.collective = "alltoallv", .why_unforceable = why_unforceable}};
}

}  // namespace rankcheck::gpu::all_to_all_v
