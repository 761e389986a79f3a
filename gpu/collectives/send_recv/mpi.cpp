#include <array>
#include <optional>

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
        MPI_Recv(
            run.recv(), run.count(), run.recv_type(), from, tag, communicator, MPI_STATUS_IGNORE),
        "MPI_Recv");
    return;
  }
  const int count = run.has_send() ? run.count() : 0;
  mpi::check(MPI_Send(run.send(), count, run.send_type(), to, tag, communicator), "MPI_Send");
}

void exchange(mpi::Invocation& run, int to, int from) {
  mpi::check(MPI_Sendrecv(run.send(),
                          run.count(),
                          run.send_type(),
                          to,
                          tag,
                          run.recv(),
                          run.count(),
                          run.recv_type(),
                          from,
                          tag,
                          run.site().communicator,
                          MPI_STATUS_IGNORE),
             "MPI_Sendrecv");
}

/// A second exchange is under way at the same time if it has memory. Its messages have a tag or a
/// communicator of their own, and are sent in the other order than they are received.
void start_and_wait(mpi::Invocation& run, int to, int from) {
  MPI_Comm first_on = run.site().communicator;
  MPI_Comm second_on = run.site().second_communicator;
  const int second_tag = run.has_two_communicators() ? tag : tag + 1;
  std::optional<mpi::SecondCall> second;
  if (run.site().has_second) second.emplace(run.second_call());
  std::array<MPI_Request, 4> requests{};
  requests.fill(MPI_REQUEST_NULL);
  if (run.has_recv()) {
    const auto receive = [&](void* buffer, int number, MPI_Comm on, MPI_Request* request) {
      mpi::check(MPI_Irecv(buffer, run.count(), run.recv_type(), from, number, on, request),
                 "MPI_Irecv");
    };
    const auto receive_second = [&] {
      if (second)
        receive(second->argument_of_second(run.recv()), second_tag, second_on, &requests[1]);
    };
    if (run.is_crossed()) receive_second();
    receive(run.recv(), tag, first_on, &requests[0]);
    if (!run.is_crossed()) receive_second();
  }
  if (run.has_send() || !run.has_recv()) {
    const int count = run.has_send() ? run.count() : 0;
    const auto send = [&](void* buffer, int number, MPI_Comm on, MPI_Request* request) {
      mpi::check(MPI_Isend(buffer, count, run.send_type(), to, number, on, request), "MPI_Isend");
    };
    const auto send_second = [&] {
      if (second) send(second->argument_of_second(run.send()), second_tag, second_on, &requests[2]);
    };
    if (!run.is_crossed()) send_second();
    send(run.send(), tag, first_on, &requests[3]);
    if (run.is_crossed()) send_second();
  }
  mpi::SecondCall::work();
  mpi::check(MPI_Waitall(4, requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
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
