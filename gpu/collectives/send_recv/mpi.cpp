#include <array>

#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::send_recv {

namespace {

constexpr int tag = 0;

/// With the pattern one_way, a rank only sends or only receives. A rank without a partner sends
/// nothing to nobody.
void send_or_receive(mpi::Invocation& run, int to, int from) {
  MPI_Comm communicator = run.site().communicator;
  if (run.has_recv()) {
    mpi::check(
        MPI_Recv(run.recv(), run.count(), run.type(), from, tag, communicator, MPI_STATUS_IGNORE),
        "MPI_Recv");
    return;
  }
  const int count = run.has_send() ? run.count() : 0;
  mpi::check(MPI_Send(run.send(), count, run.type(), to, tag, communicator), "MPI_Send");
}

void exchange(mpi::Invocation& run, int to, int from) {
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
                          run.site().communicator,
                          MPI_STATUS_IGNORE),
             "MPI_Sendrecv");
}

void start_and_wait(mpi::Invocation& run, int to, int from) {
  MPI_Comm communicator = run.site().communicator;
  std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (run.has_recv()) {
    mpi::check(
        MPI_Irecv(run.recv(), run.count(), run.type(), from, tag, communicator, &requests[0]),
        "MPI_Irecv");
  }
  if (run.has_send() || !run.has_recv()) {
    const int count = run.has_send() ? run.count() : 0;
    mpi::check(MPI_Isend(run.send(), count, run.type(), to, tag, communicator, &requests[1]),
               "MPI_Isend");
  }
  mpi::check(MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
}

void perform(mpi::Invocation& run) {
  const auto partner = [](int rank) { return rank == spec::nobody ? MPI_PROC_NULL : rank; };
  const int to = partner(spec::destination(run.call(), run.site().rank));
  const int from = partner(spec::origin(run.call(), run.site().rank));
  if (run.site().nonblocking) return start_and_wait(run, to, from);
  if (run.call().pattern == spec::Pattern::one_way) return send_or_receive(run, to, from);
  exchange(run, to, from);
}

}  // namespace

mpi::Operation mpi() {
  return {.blocking = {"MPI_Sendrecv", "MPI_Send", "MPI_Recv"},
          .nonblocking = {"MPI_Irecv", "MPI_Isend"},
          .perform = perform};
}

}  // namespace rankcheck::gpu::send_recv
