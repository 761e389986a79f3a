#include "gpu/device/mpi/lists.hpp"

namespace rankcheck::gpu::broadcast_list {

namespace {

int call(const mpi::Invocation& run, const mpi::ArraySite& array) {
  return MPI_Bcast(array.out, array.count, run.type(), run.root(), run.site().communicator);
}

int start(const mpi::Invocation& run, const mpi::ArraySite& array, MPI_Request* request) {
  return MPI_Ibcast(
      array.out, array.count, run.type(), run.root(), run.site().communicator, request);
}

constexpr mpi::ArrayCalls calls{.blocking_name = "MPI_Bcast",
                                .nonblocking_name = "MPI_Ibcast",
                                .blocking = call,
                                .nonblocking = start};

}  // namespace

mpi::Operation mpi() {
  return {.compositions = mpi::compositions_of_list<calls>()};
}

}  // namespace rankcheck::gpu::broadcast_list
