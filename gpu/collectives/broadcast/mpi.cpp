#include <cstring>

#include "reference/spec/to_size.hpp"

#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::broadcast {

namespace {

void copy_elements(mpi::Invocation& run) {
  const std::size_t bytes = run.element_bytes();
  const auto* const from = static_cast<const std::byte*>(run.send());
  auto* const to = static_cast<std::byte*>(run.recv());
  const auto send_stride = spec::to_size(run.extents().send_stride);
  const auto recv_stride = spec::to_size(run.extents().recv_stride);
  const auto count = spec::to_size(run.count());
  if (send_stride == 1 && recv_stride == 1) {
    std::memcpy(to, from, count * bytes);
    return;
  }
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(to + i * recv_stride * bytes, from + i * send_stride * bytes, bytes);
}

/// MPI_Bcast has one buffer for input and output, so the root first copies its input to `recv`.
void perform(mpi::Invocation& run) {
  const bool copies = run.has_send() && !run.shares();
  if (copies && run.count() > 0) copy_elements(run);
  const mpi::BlockType block = run.recv_block();
  run.issue(
      RANKCHECK_MPI_FORMS(Bcast, Ibcast), run.recv(), block.count(), block.type(), run.root());
}

/// Says why Open MPI 4.1 would not run the forced algorithm; empty if it does run it.
std::string_view why_unforceable(std::string_view word, const mpi::ForcedUse& use) {
  if (word.starts_with("scatter_allgather") && use.call.count < use.call.ranks) {
    return "count: with fewer elements than ranks, Open MPI falls back to linear";
  }
  if (word == "split_binary_tree" && use.call.count / 2 < use.segment_elements) {
    return "count: with less than two segments, Open MPI falls back to chain";
  }
  return {};
}

}  // namespace

mpi::Operation mpi() {
  return {.blocking = {"MPI_Bcast"},
          .nonblocking = {"MPI_Ibcast"},
          .persistent = {"MPI_Bcast_init", "MPIX_Bcast_init"},
          .perform = perform,
          .has_layouts = true,
          .tuning = {.collective = "bcast", .why_unforceable = why_unforceable}};
}

}  // namespace rankcheck::gpu::broadcast
