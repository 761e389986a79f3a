#include <cstring>

#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::broadcast {

/// MPI_Bcast; it has one buffer, so the root copies its input first.
void mpi(mpi::Invocation& run) {
  const bool copies = run.has_send() && !run.shares();
  if (copies && run.count() > 0) {
    std::memcpy(
        run.recv(), run.send(), static_cast<std::size_t>(run.count()) * run.element_bytes());
  }
  run.issue("Bcast", MPI_Bcast, MPI_Ibcast, run.recv(), run.count(), run.type(), run.root());
}

}  // namespace rankcheck::gpu::broadcast
