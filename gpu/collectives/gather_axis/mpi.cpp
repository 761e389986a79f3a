#include "gpu/device/mpi/axis.hpp"

namespace rankcheck::gpu::gather_axis {

namespace {

int call(const mpi::Invocation& run, const mpi::Gathering& gathering) {
  return MPI_Gatherv(gathering.send,
                     gathering.send_count,
                     gathering.send_type,
                     gathering.recv,
                     gathering.counts.data(),
                     gathering.displacements.data(),
                     gathering.recv_type,
                     run.root(),
                     run.site().communicator);
}

constexpr mpi::GatherCall gather_call{.name = "MPI_Gatherv", .call = call};

}  // namespace

mpi::Operation mpi() {
  return {.compositions = mpi::compositions_of_axis<gather_call>()};
}

}  // namespace rankcheck::gpu::gather_axis
