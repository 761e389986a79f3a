#include <array>

#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::send_recv {

namespace {

void perform(mpi::Invocation& run) {
  const int to = spec::destination(run.call(), run.site().rank);
  const int from = spec::origin(run.call(), run.site().rank);
  MPI_Comm communicator = run.site().communicator;
  constexpr int tag = 0;
  if (!run.site().nonblocking) {
    mpi::check(MPI_Sendrecv(run.send(),
                            run.count(),
                            run.type(),
                            to,
                            tag,
                            run.recv(),
                            run.count(),
                            run.type(),
                            from,
                            tag,
                            communicator,
                            MPI_STATUS_IGNORE),
               "MPI_Sendrecv");
    return;
  }
  std::array<MPI_Request, 2> requests{};
  mpi::check(MPI_Irecv(run.recv(), run.count(), run.type(), from, tag, communicator, &requests[0]),
             "MPI_Irecv");
  mpi::check(MPI_Isend(run.send(), run.count(), run.type(), to, tag, communicator, &requests[1]),
             "MPI_Isend");
  mpi::check(MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
}

}  // namespace

mpi::Operation mpi() {
  return {
      .blocking = {"MPI_Sendrecv"}, .nonblocking = {"MPI_Irecv", "MPI_Isend"}, .perform = perform};
}

}  // namespace rankcheck::gpu::send_recv
