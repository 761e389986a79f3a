#include "gpu/device/mpi/lists.hpp"

namespace rankcheck::gpu::all_reduce_list {

namespace {

int call(const mpi::Invocation& run, const mpi::ArraySite& array) {
  return MPI_Allreduce(
      array.in, array.out, array.count, run.type(), array.op, run.site().communicator);
}

int start(const mpi::Invocation& run, const mpi::ArraySite& array, MPI_Request* request) {
  return MPI_Iallreduce(
      array.in, array.out, array.count, run.type(), array.op, run.site().communicator, request);
}

constexpr mpi::ArrayCalls calls{.blocking_name = "MPI_Allreduce",
                                .nonblocking_name = "MPI_Iallreduce",
                                .blocking = call,
                                .nonblocking = start};

}  // namespace

mpi::Operation mpi() {
  return {.compositions = mpi::compositions_of_list<calls>()};
}

}  // namespace rankcheck::gpu::all_reduce_list
