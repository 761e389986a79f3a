#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include <mpi.h>
#include <unistd.h>

/// An MPI library with one fault: these functions are preloaded into the real worker and intercept
/// the library's functions. RANKCHECK_PLANTED names the fault. Faults need several ranks and,
/// except for the barrier's, an element.
namespace {

bool is_planted(std::string_view fault) {
  const char* planted = std::getenv("RANKCHECK_PLANTED");
  return planted != nullptr && planted == fault;
}

int size_of(MPI_Comm communicator) {
  int size = 0;
  PMPI_Comm_size(communicator, &size);
  return size;
}

bool is_last_of_several(MPI_Comm communicator) {
  int rank = 0;
  PMPI_Comm_rank(communicator, &rank);
  return rank > 0 && rank == size_of(communicator) - 1;
}

/// The results of requests that nobody has waited for, with their sizes in bytes.
std::vector<std::pair<unsigned char*, int>>& results_under_way() {
  static std::vector<std::pair<unsigned char*, int>> all;
  return all;
}

/// A result that is taken back, with the bytes that it replaced.
struct Forgotten {
  unsigned char* result = nullptr;
  std::vector<unsigned char> before;
};

/// The result of the last request that was started, if nobody waits for it.
Forgotten& last_started() {
  static Forgotten last;
  return last;
}

void end_or_hang() {
  if (is_planted("abort")) std::abort();
  if (is_planted("exit")) ::_exit(3);
  if (is_planted("kill")) ::raise(SIGKILL);
  while (is_planted("hang")) ::pause();
}

/// Sends what the memory held at the send before, as if MPI read the memory before it was filled.
int send_too_early(
    const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm communicator) {
  static std::vector<unsigned char> before;
  const auto* const bytes = static_cast<const unsigned char*>(data);
  std::vector<unsigned char> early = before;
  early.resize(static_cast<std::size_t>(count), 0xff);
  before.assign(bytes, bytes + count);
  return PMPI_Send(early.data(), count, type, to, tag, communicator);
}

}  // namespace

extern "C" {

int MPI_Allreduce(
    const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm communicator) {
  const bool strikes = count > 0 && is_last_of_several(communicator);
  if (strikes) end_or_hang();
  if (is_planted("other_call") && count > 0) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = MPI_Iallreduce(send, recv, count, type, op, communicator, &request);
    const int waited = MPI_Wait(&request, MPI_STATUS_IGNORE);
    return code == MPI_SUCCESS ? waited : code;
  }
  const int code = PMPI_Allreduce(send, recv, count, type, op, communicator);
  if (strikes && is_planted("flipped_bit")) *static_cast<unsigned char*>(recv) ^= 1U;
  return strikes && is_planted("error_code") ? MPI_ERR_OTHER : code;
}

/// Plants that two requests under way get each other's results.
int MPI_Iallreduce(const void* send,
                   void* recv,
                   int count,
                   MPI_Datatype type,
                   MPI_Op op,
                   MPI_Comm communicator,
                   MPI_Request* request) {
  if (is_planted("mixed_requests")) {
    int bytes = 0;
    PMPI_Type_size(type, &bytes);
    results_under_way().emplace_back(static_cast<unsigned char*>(recv), bytes * count);
  }
  if (is_planted("no_waitall") && count > 0) {
    int bytes = 0;
    PMPI_Type_size(type, &bytes);
    auto* const result = static_cast<unsigned char*>(recv);
    last_started() = {.result = result, .before = {result, result + std::ptrdiff_t{bytes} * count}};
  }
  return PMPI_Iallreduce(send, recv, count, type, op, communicator, request);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  const int code = PMPI_Wait(request, status);
  static int waits = 0;
  auto& results = results_under_way();
  if (results.size() < 2 || ++waits < 2) return code;
  std::swap_ranges(results[0].first, results[0].first + results[0].second, results[1].first);
  results.clear();
  waits = 0;
  return code;
}

/// Plants that the last of several requests is not waited for: its result is not there yet.
int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  const int code = PMPI_Waitall(count, requests, statuses);
  Forgotten& last = last_started();
  std::copy(last.before.begin(), last.before.end(), last.result);
  last = {};
  return code;
}

int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm communicator) {
  if (is_planted("wrong_root")) root = (root + 1) % size_of(communicator);
  return PMPI_Bcast(buffer, count, type, root, communicator);
}

int MPI_Allgather(const void* send,
                  int send_count,
                  MPI_Datatype send_type,
                  void* recv,
                  int count,
                  MPI_Datatype type,
                  MPI_Comm communicator) {
  const int code = PMPI_Allgather(send, send_count, send_type, recv, count, type, communicator);
  int bytes = 0;
  PMPI_Type_size(type, &bytes);
  if (is_planted("past_end") && count > 0 && is_last_of_several(communicator)) {
    const std::ptrdiff_t elements = std::ptrdiff_t{count} * size_of(communicator);
    static_cast<unsigned char*>(recv)[elements * bytes] ^= 1U;
  }
  return code;
}

int MPI_Alltoallv(const void* send,
                  const int* send_counts,
                  const int* send_displacements,
                  MPI_Datatype send_type,
                  void* recv,
                  const int* counts,
                  const int* displacements,
                  MPI_Datatype type,
                  MPI_Comm communicator) {
  const int code = PMPI_Alltoallv(send,
                                  send_counts,
                                  send_displacements,
                                  send_type,
                                  recv,
                                  counts,
                                  displacements,
                                  type,
                                  communicator);
  int bytes = 0;
  PMPI_Type_size(type, &bytes);
  if (is_planted("past_scratch") && is_last_of_several(communicator)) {
    const int last = size_of(communicator) - 1;
    const std::ptrdiff_t elements = std::ptrdiff_t{displacements[last]} + counts[last];
    static_cast<unsigned char*>(recv)[elements * bytes] ^= 1U;
  }
  return code;
}

int MPI_Barrier(MPI_Comm communicator) {
  return is_planted("no_barrier") ? MPI_SUCCESS : PMPI_Barrier(communicator);
}

/// Plants a group that uses the communicator of the world. Its ranks get the world's numbers.
int MPI_Comm_create_group(MPI_Comm communicator, MPI_Group group, int tag, MPI_Comm* made) {
  if (!is_planted("world_group")) return PMPI_Comm_create_group(communicator, group, tag, made);
  *made = communicator;
  return MPI_SUCCESS;
}

int MPI_Comm_free(MPI_Comm* communicator) {
  if (*communicator != MPI_COMM_WORLD) return PMPI_Comm_free(communicator);
  *communicator = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

int MPI_Send(
    const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm communicator) {
  if (count == 0 && is_planted("no_signals")) return MPI_SUCCESS;
  const bool strikes = count > 0 && is_last_of_several(communicator);
  if (strikes) end_or_hang();
  if (is_planted("overtaken_staging")) {
    return send_too_early(data, count, type, to, tag, communicator);
  }
  if (!strikes || !is_planted("flipped_bit")) {
    return PMPI_Send(data, count, type, to, tag, communicator);
  }
  int bytes = 0;
  PMPI_Type_size(type, &bytes);
  const auto* const sent = static_cast<const unsigned char*>(data);
  std::vector<unsigned char> wrong(sent, sent + std::ptrdiff_t{bytes} * count);
  wrong.front() ^= 1U;
  return PMPI_Send(wrong.data(), count, type, to, tag, communicator);
}

int MPI_Recv(void* data,
             int count,
             MPI_Datatype type,
             int from,
             int tag,
             MPI_Comm communicator,
             MPI_Status* status) {
  if (count > 0 || !is_planted("no_signals")) {
    return PMPI_Recv(data, count, type, from, tag, communicator, status);
  }
  return PMPI_Status_set_elements(status, type, 0);
}

int MPI_Finalize() {
  const int code = PMPI_Finalize();
  if (is_planted("bad_end")) ::_exit(3);
  return code;
}

}  // extern "C"
