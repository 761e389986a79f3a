#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::all_to_all_v {

namespace {

void perform(mpi::Invocation& run) {
  const mpi::Blocks from(run.extents().send);
  const mpi::Blocks to(run.extents().recv);
  run.issue(RANKCHECK_MPI_FORMS(Alltoallv, Ialltoallv),
            run.send_or_in_place(),
            from.counts.data(),
            from.displacements.data(),
            run.send_type(),
            run.recv(),
            to.counts.data(),
            to.displacements.data(),
            run.recv_type());
}

/// The arguments of one side of MPI_Alltoallw, which has a type for each partner: here a vector of
/// all elements of the block. Displacements are in bytes.
class TypedBlocks {
 public:
  TypedBlocks(const mpi::Invocation& run,
              const std::vector<spec::Block>& blocks,
              std::int64_t stride) {
    const auto step = stride * static_cast<std::int64_t>(run.element_bytes());
    for (const spec::Block& block : blocks) {
      counts.push_back(block.count > 0 ? 1 : 0);
      displacements.push_back(static_cast<int>(block.offset * step));
      MPI_Datatype& type = types.emplace_back(MPI_DATATYPE_NULL);
      mpi::check(MPI_Type_vector(
                     static_cast<int>(block.count), 1, static_cast<int>(stride), run.type(), &type),
                 "MPI_Type_vector");
      mpi::check(MPI_Type_commit(&type), "MPI_Type_commit");
    }
  }
  TypedBlocks(const TypedBlocks&) = delete;
  TypedBlocks& operator=(const TypedBlocks&) = delete;
  ~TypedBlocks() {
    for (MPI_Datatype& type : types) MPI_Type_free(&type);
  }

  std::vector<int> counts;
  std::vector<int> displacements;
  std::vector<MPI_Datatype> types;
};

/// Calls `call` with the arguments of MPI_Alltoallw. The types live until it returns.
template <class Call>
void call_typed(mpi::Invocation& run, Call call) {
  const TypedBlocks from(run, run.extents().send, run.extents().send_stride);
  const TypedBlocks to(run, run.extents().recv, run.extents().recv_stride);
  call(run.send_or_in_place(),
       from.counts.data(),
       from.displacements.data(),
       from.types.data(),
       run.recv(),
       to.counts.data(),
       to.displacements.data(),
       to.types.data(),
       run.site().communicator);
}

void perform_typed(mpi::Invocation& run) {
  call_typed(run,
             [](auto... arguments) { mpi::check(MPI_Alltoallw(arguments...), "MPI_Alltoallw"); });
}

void perform_typed_nonblocking(mpi::Invocation& run) {
  call_typed(run, [](auto... arguments) {
    MPI_Request request = MPI_REQUEST_NULL;
    mpi::check(MPI_Ialltoallw(arguments..., &request), "MPI_Ialltoallw");
    mpi::SecondCall::work();
    mpi::check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
  });
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
  return {
      .blocking = {"MPI_Alltoallv"},
      .nonblocking = {"MPI_Ialltoallv"},
      .persistent = {"MPI_Alltoallv_init", "MPIX_Alltoallv_init"},
      .perform = perform,
      .why_only_blocking = why_only_blocking,
      .tuning = {.collective = "alltoallv", .why_unforceable = why_unforceable},
      .compositions = {{.name = "typed",
                        .summary = "MPI_Alltoallw is called with a vector type for each partner.",
                        .functions = {"MPI_Alltoallw"},
                        .perform = perform_typed,
                        .has_byte_places = true,
                        .collective = "alltoallw"},
                       {.name = "typed_nonblocking",
                        .summary = "MPI_Ialltoallw is called with a vector type for each partner.",
                        .functions = {"MPI_Ialltoallw"},
                        .perform = perform_typed_nonblocking,
                        .has_byte_places = true,
                        .collective = "alltoallw",
                        .nonblocking = true,
                        .why_refused = why_only_blocking}}};
}

}  // namespace rankcheck::gpu::all_to_all_v
