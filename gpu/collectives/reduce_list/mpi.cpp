#include "gpu/device/mpi/lists.hpp"

namespace rankcheck::gpu::reduce_list {

namespace {

int call(const mpi::Invocation& run, const mpi::ArraySite& array) {
  return MPI_Reduce(
      array.in, array.out, array.count, run.type(), array.op, run.root(), run.site().communicator);
}

int start(const mpi::Invocation& run, const mpi::ArraySite& array, MPI_Request* request) {
  return MPI_Ireduce(array.in,
                     array.out,
                     array.count,
                     run.type(),
                     array.op,
                     run.root(),
                     run.site().communicator,
                     request);
}

constexpr mpi::ArrayCalls calls{.blocking_name = "MPI_Reduce",
                                .nonblocking_name = "MPI_Ireduce",
                                .blocking = call,
                                .nonblocking = start};

}  // namespace

mpi::Operation mpi() {
  return {.compositions = mpi::compositions_of_list<calls>()};
}

}  // namespace rankcheck::gpu::reduce_list
