#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <list>
#include <map>
#include <set>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <mpi.h>
#include <sys/uio.h>
#include <unistd.h>

#include "gpu/device/mpi/persistent.hpp"

#include "tests/gpu/device/planted.hpp"

/// The functions that make a persistent all_reduce and a persistent barrier: the library's own with
/// the prefix P.
#if MPI_VERSION >= 4
#define RANKCHECK_ALL_REDUCE_INIT(prefix) prefix##MPI_Allreduce_init
#define RANKCHECK_BARRIER_INIT(prefix) prefix##MPI_Barrier_init
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define RANKCHECK_ALL_REDUCE_INIT(prefix) prefix##MPIX_Allreduce_init
#define RANKCHECK_BARRIER_INIT(prefix) prefix##MPIX_Barrier_init
#endif

/// An MPI library with faults: these functions are preloaded into the real worker and intercept the
/// library's functions. RANKCHECK_PLANTED names the faults, see planted.hpp. Faults need several
/// ranks and, except for the barrier's, an element.
namespace {

using rankcheck::tests::is_planted;

/// Whether the library says that it takes addresses of CUDA devices, and takes them. With the fault
/// `empty_promise`, it only says so.
bool takes_devices() {
  static const bool takes = std::getenv("RANKCHECK_MPI_TAKES_DEVICES") != nullptr;
  return takes;
}

/// Copies from or to a device. The stand-in for CUDA, which is part of the program, has a function
/// for libraries that take addresses of its devices.
void copy_with_cuda(void* to, const void* from, std::size_t bytes) {
  using Copy = void(void* to, const void* from, std::size_t bytes);
  static auto* const copy = reinterpret_cast<Copy*>(dlsym(RTLD_DEFAULT, "rankcheck_cuda_copy"));
  if (copy == nullptr) std::abort();
  copy(to, from, bytes);
}

int size_of(MPI_Comm comm) {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  return size;
}

bool have_same_ranks(MPI_Comm one, MPI_Comm other) {
  int comparison = MPI_UNEQUAL;
  PMPI_Comm_compare(one, other, &comparison);
  return comparison == MPI_IDENT || comparison == MPI_CONGRUENT;
}

bool has_all(MPI_Comm comm) {
  return have_same_ranks(comm, MPI_COMM_WORLD);
}

/// The communicators that exist, the oldest first.
std::vector<MPI_Comm> communicators;

/// The oldest communicator of the same ranks in the same order.
MPI_Comm first_like(MPI_Comm comm) {
  for (MPI_Comm each : communicators) {
    if (have_same_ranks(each, comm)) return each;
  }
  return comm;
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank;
}

/// How many ranks the communicators of the first world ranks had that were freed.
std::set<int> freed_sizes;
/// The communicators of the first world ranks that were made again after that. The first broadcast
/// there has a wrong result, because of the fault `stale_communicator`.
std::vector<MPI_Comm> made_anew;

/// Whether the ranks are the first world ranks, in order.
bool has_first_ranks(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return comm != MPI_COMM_WORLD && rank_in(comm) == rank && rank < size_of(comm);
}

std::size_t bytes_of(int count, MPI_Datatype type) {
  int bytes = 0;
  PMPI_Type_size(type, &bytes);
  return static_cast<std::size_t>(bytes) * static_cast<std::size_t>(count);
}

/// Makes one bit of a buffer wrong, `offset` bytes behind its begin.
void flip(void* buffer, std::size_t offset = 0) {
  static_cast<unsigned char*>(buffer)[offset] ^= 1U;
}

bool is_last_of_several(MPI_Comm comm) {
  const int rank = rank_in(comm);
  return rank > 0 && rank == size_of(comm) - 1;
}

/// The results of requests that nobody has waited for, with their sizes in bytes.
std::vector<std::pair<unsigned char*, std::size_t>> results_under_way;

/// The result of the last request that was started, if nobody waits for it, and the bytes that it
/// replaces.
struct {
  unsigned char* result = nullptr;
  std::vector<unsigned char> before;
} last_started;

/// Remembers a request's result for the faults `mixed_requests` and `no_waitall`.
void note_request(void* recv, int count, MPI_Datatype type) {
  if (recv == nullptr || count == 0) return;
  auto* const result = static_cast<unsigned char*>(recv);
  const std::size_t bytes = bytes_of(count, type);
  if (is_planted("mixed_requests")) results_under_way.emplace_back(result, bytes);
  if (is_planted("no_waitall")) {
    last_started = {.result = result, .before = {result, result + bytes}};
  }
}

/// Gives the first two requests each other's results.
void mix_results() {
  if (results_under_way.size() >= 2) {
    const auto [begin, bytes] = results_under_way[0];
    std::swap_ranges(begin, begin + bytes, results_under_way[1].first);
  }
  results_under_way.clear();
}

/// A request that nobody has waited for, the function that started it, its result, and the bytes
/// that the result replaces.
struct Started {
  MPI_Request request = MPI_REQUEST_NULL;
  std::string_view function;
  unsigned char* result = nullptr;
  std::vector<unsigned char> before;
};

std::vector<Started> started;

/// Remembers a request for the fault `other_request`, before it starts.
Started before_start(std::string_view function, void* recv, int count, MPI_Datatype type) {
  auto* const result = static_cast<unsigned char*>(recv);
  if (!is_planted("other_request") || result == nullptr) return {};
  return {
      .function = function, .result = result, .before = {result, result + bytes_of(count, type)}};
}

void note_start(Started made, MPI_Request request) {
  if (made.result == nullptr) return;
  made.request = request;
  started.push_back(std::move(made));
}

/// Plants that the wait for a request ends with another one, which another function started, if
/// that is under way. The result is not there yet.
void wait_for_other(const Started& waited) {
  const bool has_other = std::any_of(started.begin(), started.end(), [&](const Started& each) {
    return each.function != waited.function;
  });
  if (has_other) std::copy(waited.before.begin(), waited.before.end(), waited.result);
}

/// The last result of MPI_Allreduce and its bytes.
struct {
  unsigned char* result = nullptr;
  std::vector<unsigned char> bytes;
} last_sum;

/// Plants a sum that is written again after its end. The worker has overwritten its memory with the
/// opposite bits then. Other memory of a sum may have been freed.
void write_late() {
  const auto [result, bytes] = std::exchange(last_sum, {});
  for (std::size_t k = 0; k < bytes.size(); ++k) {
    if (result[k] != static_cast<unsigned char>(~bytes[k])) return;
  }
  if (!bytes.empty()) flip(result);
}

/// A thread that makes a broadcast on its root after the call has returned.
std::thread late_reader;

/// MPI is not called by two threads at once.
void await_late_reader() {
  if (late_reader.joinable()) late_reader.join();
}

/// The data that a persistent request sends, and the buffer that it should send.
struct FirstData {
  const void* send = nullptr;
  int starts_with_new_data = 1;
  std::vector<unsigned char> bytes;
};

/// The requests that will be started with new data.
std::map<MPI_Request, FirstData*> with_new_data;

struct PersistentBarrier {
  MPI_Comm comm = MPI_COMM_NULL;
  int starts = 0;
};

std::map<MPI_Request, PersistentBarrier> persistent_barriers;

/// The number of barriers that were started and that nobody has waited for.
int barriers_under_way = 0;

constexpr int tag_of_meetings = 1;

/// The rank of the world that waits until this rank has left its call.
int waiting_rank = MPI_PROC_NULL;

/// Makes a barrier's fault show whatever the scheduler does. The first two ranks of the
/// communicator call this before the call that is judged: the one that `waits` stays here until the
/// other one has left that call, so that it enters the call too late.
void meet(MPI_Comm comm, bool waits) {
  const int rank = rank_in(comm);
  if (size_of(comm) < 2 || rank > 1) return;
  const int other = 1 - rank;
  int other_in_world = MPI_PROC_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  PMPI_Comm_group(comm, &group);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_translate_ranks(group, 1, &other, world, &other_in_world);
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  if (!waits) {
    waiting_rank = other_in_world;
    return;
  }
  PMPI_Recv(
      nullptr, 0, MPI_BYTE, other_in_world, tag_of_meetings, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// Notes that a request is waited for. Behind each judged call, the worker waits for a barrier of
/// its own, which it starts with a function that is not intercepted.
void note_wait() {
  if (barriers_under_way > 0) {
    --barriers_under_way;
    return;
  }
  PMPI_Send(nullptr,
            0,
            MPI_BYTE,
            std::exchange(waiting_rank, MPI_PROC_NULL),
            tag_of_meetings,
            MPI_COMM_WORLD);
}

/// Whether Open MPI's component coll/libnbc was told to use a ring in MPI_Iallreduce.
bool uses_ring() {
  int index = 0;
  int count = 0;
  int value = 0;
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  if (MPI_T_cvar_get_index("coll_libnbc_iallreduce_algorithm", &index) != MPI_SUCCESS) return false;
  MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count);
  MPI_T_cvar_read(handle, &value);
  MPI_T_cvar_handle_free(&handle);
  constexpr int ring = 1;
  return value == ring;
}

/// A sender's message is copied to the receiver's place for it, where a newer one takes the place
/// of one that nobody has received. So a receiver gets the wrong one if the sender runs ahead.
int broadcast_newest(
    void* buffer, int count, MPI_Datatype type, int root, int place, MPI_Comm comm) {
  if (rank_in(comm) == root) {
    for (int to = 0; to < size_of(comm); ++to) {
      if (to != root) PMPI_Send(buffer, count, type, to, place, comm);
    }
    return MPI_SUCCESS;
  }
  // The calls for which a newer message was taken.
  static std::map<std::pair<MPI_Comm, int>, std::pair<int, std::vector<unsigned char>>> all;
  auto& [ahead, newest] = all[{comm, place}];
  const std::size_t bytes = bytes_of(count, type);
  auto* const to = static_cast<unsigned char*>(buffer);
  if (ahead > 0) {
    --ahead;
    std::copy_n(newest.begin(), bytes, to);
    return MPI_SUCCESS;
  }
  PMPI_Recv(buffer, count, type, root, place, comm, MPI_STATUS_IGNORE);
  int is_there = 0;
  for (PMPI_Iprobe(root, place, comm, &is_there, MPI_STATUS_IGNORE); is_there != 0;
       PMPI_Iprobe(root, place, comm, &is_there, MPI_STATUS_IGNORE)) {
    PMPI_Recv(buffer, count, type, root, place, comm, MPI_STATUS_IGNORE);
    ++ahead;
  }
  newest.assign(to, to + bytes);
  return MPI_SUCCESS;
}

/// The pages that the library has registered with the network: their content if the program has
/// given them back since, which the network still reads.
std::map<void*, std::vector<unsigned char>>& registered() {
  // Pages are given back until the process ends, so this stays.
  static auto* const all = new std::map<void*, std::vector<unsigned char>>;
  return *all;
}

/// Plants a cache of registered pages that does not see when pages are given back. During its life,
/// a buffer that is sent has the content of the pages that were registered for its address.
class SentPages {
 public:
  SentPages(void* buffer, std::size_t bytes, bool is_sent) {
    if (!is_planted("stale_pages") || !is_sent || bytes == 0) return;
    auto* const begin = static_cast<unsigned char*>(buffer);
    const std::vector<unsigned char>& old = registered()[buffer];
    if (old.size() < bytes) return;
    begin_ = begin;
    own_.assign(begin, begin + bytes);
    std::copy_n(old.begin(), bytes, begin);
  }
  SentPages(const SentPages&) = delete;
  SentPages& operator=(const SentPages&) = delete;
  ~SentPages() { std::copy(own_.begin(), own_.end(), begin_); }

 private:
  unsigned char* begin_ = nullptr;
  std::vector<unsigned char> own_;
};

void end_or_hang() {
  if (is_planted("abort")) std::abort();
  if (is_planted("exit")) ::_exit(3);
  if (is_planted("kill")) ::raise(SIGKILL);
  while (is_planted("hang")) ::pause();
}

/// Sends what the memory held at the send before, as if MPI read the memory before it was filled.
int send_too_early(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  static std::vector<unsigned char> before;
  const auto* const bytes = static_cast<const unsigned char*>(data);
  std::vector<unsigned char> early = before;
  early.resize(static_cast<std::size_t>(count), 0xff);
  before.assign(bytes, bytes + count);
  return PMPI_Send(early.data(), count, type, to, tag, comm);
}

int send_from_host(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  if (count == 0 && is_planted("no_signals")) return MPI_SUCCESS;
  const bool strikes = count > 0 && is_last_of_several(comm);
  if (strikes) end_or_hang();
  if (is_planted("overtaken_staging")) {
    return send_too_early(data, count, type, to, tag, comm);
  }
  if (!strikes || !is_planted("flipped_bit")) {
    return PMPI_Send(data, count, type, to, tag, comm);
  }
  const auto* const sent = static_cast<const unsigned char*>(data);
  std::vector<unsigned char> wrong(sent, sent + bytes_of(count, type));
  flip(wrong.data());
  return PMPI_Send(wrong.data(), count, type, to, tag, comm);
}

/// The displacements that a library with the fault `one_displacement` uses.
std::vector<int> displacements_to_send(const int* displacements, MPI_Comm comm) {
  const int ranks = size_of(comm);
  if (displacements == nullptr) return {};
  std::vector<int> wrong(displacements, displacements + ranks);
  if (is_planted("one_displacement")) wrong.back() = wrong.front();
  return wrong;
}

}  // namespace

extern "C" {

int MPI_Allreduce(
    const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const bool strikes = count > 0 && is_last_of_several(comm);
  if (strikes) end_or_hang();
  if (is_planted("other_call") && count > 0) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = MPI_Iallreduce(send, recv, count, type, op, comm, &request);
    const int waited = MPI_Wait(&request, MPI_STATUS_IGNORE);
    return code == MPI_SUCCESS ? waited : code;
  }
  const int code = PMPI_Allreduce(send, recv, count, type, op, comm);
  // Small memory stays mapped when it is freed.
  if (is_planted("late_write") && count > 0 && count < 100) {
    auto* const result = static_cast<unsigned char*>(recv);
    last_sum = {.result = result, .bytes = {result, result + bytes_of(count, type)}};
  }
  const bool is_wrong_int = is_planted("wrong_int") && type == MPI_INT;
  if (strikes && (is_wrong_int || is_planted("flipped_bit"))) flip(recv);
  return strikes && is_planted("error_code") ? MPI_ERR_OTHER : code;
}

/// Plants a library that keeps the content of registered pages when the program gives them back.
int munmap(void* pages, std::size_t size) {
  static auto* const next = reinterpret_cast<decltype(&munmap)>(dlsym(RTLD_NEXT, "munmap"));
  auto* const end = static_cast<unsigned char*>(pages) + size;
  if (last_sum.result >= pages && last_sum.result < end) last_sum = {};
  for (auto at = registered().lower_bound(pages); at != registered().end() && at->first < end; ++at)
    at->second.assign(static_cast<unsigned char*>(at->first), end);
  return next(pages, size);
}

/// Plants a wrong last byte in messages that the library copies from the memory of the sender.
ssize_t process_vm_readv(pid_t sender,
                         const iovec* local,
                         unsigned long locals,
                         const iovec* remote,
                         unsigned long remotes,
                         unsigned long flags) {
  static auto* const next =
      reinterpret_cast<decltype(&process_vm_readv)>(dlsym(RTLD_NEXT, "process_vm_readv"));
  const ssize_t bytes = next(sender, local, locals, remote, remotes, flags);
  if (is_planted("torn_copy") && bytes > 1) {
    const iovec& last = local[locals - 1];
    flip(last.iov_base, last.iov_len - 1);
  }
  return bytes;
}

/// Plants that two requests under way get each other's results, a ring that leaves out the last
/// element, messages of one communicator that are taken for those of another one, and a second
/// communicator on which the last element is left out.
int MPI_Iallreduce(const void* send,
                   void* recv,
                   int count,
                   MPI_Datatype type,
                   MPI_Op op,
                   MPI_Comm comm,
                   MPI_Request* request) {
  note_request(recv, count, type);
  if (is_planted("short_ring") && count > 0 && uses_ring()) --count;
  const bool is_second = has_all(comm) && comm != first_like(comm);
  if (is_planted("one_context") && is_second) comm = first_like(comm);
  if (is_planted("short_on_second") && count > 0 && is_second) --count;
  Started made = before_start("MPI_Iallreduce", recv, count, type);
  const int code = PMPI_Iallreduce(send, recv, count, type, op, comm, request);
  note_start(std::move(made), *request);
  return code;
}

int MPI_Ibcast(
    void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
  if (is_planted("newest_message")) {
    // Each of two calls under way has a place of its own.
    static int calls = 0;
    *request = MPI_REQUEST_NULL;
    return broadcast_newest(buffer, count, type, root, ++calls % 2, comm);
  }
  note_request(buffer, count, type);
  Started made = before_start("MPI_Ibcast", buffer, count, type);
  const int code = PMPI_Ibcast(buffer, count, type, root, comm, request);
  note_start(std::move(made), *request);
  return code;
}

/// Only the root has a result.
int MPI_Ireduce(const void* send,
                void* recv,
                int count,
                MPI_Datatype type,
                MPI_Op op,
                int root,
                MPI_Comm comm,
                MPI_Request* request) {
  if (rank_in(comm) == root) note_request(recv, count, type);
  return PMPI_Ireduce(send, recv, count, type, op, root, comm, request);
}

int MPI_Irecv(void* recv,
              int count,
              MPI_Datatype type,
              int from,
              int tag,
              MPI_Comm comm,
              MPI_Request* request) {
  if (from != MPI_PROC_NULL) note_request(recv, count, type);
  return PMPI_Irecv(recv, count, type, from, tag, comm, request);
}

int MPI_Reduce(const void* send,
               void* recv,
               int count,
               MPI_Datatype type,
               MPI_Op op,
               int root,
               MPI_Comm comm) {
  const int code = PMPI_Reduce(send, recv, count, type, op, root, comm);
  const bool is_root_of_several = size_of(comm) > 1 && rank_in(comm) == root;
  if (is_planted("flipped_bit") && count > 0 && is_root_of_several) flip(recv);
  return code;
}

/// Plants a library that takes the blocks of a derived type as if there were nothing in between,
/// and one that leaves out the last block.
int MPI_Type_vector(int blocks, int length, int stride, MPI_Datatype type, MPI_Datatype* made) {
  if (is_planted("short_vector") && blocks > 1) --blocks;
  return PMPI_Type_vector(blocks, length, is_planted("flat_type") ? length : stride, type, made);
}

/// Plants a library that takes the parts of an indexed type in another order.
int MPI_Type_indexed(
    int parts, const int* lengths, const int* places, MPI_Datatype type, MPI_Datatype* made) {
  std::vector<int> other_lengths(lengths, lengths + parts);
  std::vector<int> other_places(places, places + parts);
  if (is_planted("other_order") && parts > 1) {
    std::rotate(other_lengths.begin(), other_lengths.begin() + 1, other_lengths.end());
    std::rotate(other_places.begin(), other_places.begin() + 1, other_places.end());
  }
  return PMPI_Type_indexed(parts, other_lengths.data(), other_places.data(), type, made);
}

/// Plants a library that takes all parts of a structure from its start.
int MPI_Type_create_struct(int parts,
                           const int* lengths,
                           const MPI_Aint* places,
                           const MPI_Datatype* types,
                           MPI_Datatype* made) {
  std::vector<MPI_Aint> other_places(places, places + parts);
  if (is_planted("joined_parts"))
    std::fill(other_places.begin(), other_places.end(), other_places.front());
  return PMPI_Type_create_struct(parts, lengths, other_places.data(), types, made);
}

/// Plants a library that sends the last partner the data of the first one.
int MPI_Alltoallw(const void* send,
                  const int* send_counts,
                  const int* send_displacements,
                  const MPI_Datatype* send_types,
                  void* recv,
                  const int* counts,
                  const int* displacements,
                  const MPI_Datatype* types,
                  MPI_Comm comm) {
  const std::vector<int> wrong = displacements_to_send(send_displacements, comm);
  return PMPI_Alltoallw(
      send, send_counts, wrong.data(), send_types, recv, counts, displacements, types, comm);
}

/// Plants the same fault.
int MPI_Ialltoallw(const void* send,
                   const int* send_counts,
                   const int* send_displacements,
                   const MPI_Datatype* send_types,
                   void* recv,
                   const int* counts,
                   const int* displacements,
                   const MPI_Datatype* types,
                   MPI_Comm comm,
                   MPI_Request* request) {
  // The library may read it until the request is done. The worker makes one such call at a time.
  static std::vector<int> wrong;
  wrong = displacements_to_send(send_displacements, comm);
  return PMPI_Ialltoallw(send,
                         send_counts,
                         wrong.data(),
                         send_types,
                         recv,
                         counts,
                         displacements,
                         types,
                         comm,
                         request);
}

/// Plants a library that forgets the extent of a resized type.
int MPI_Type_create_resized(MPI_Datatype type,
                            MPI_Aint lower,
                            MPI_Aint extent,
                            MPI_Datatype* made) {
  if (is_planted("flat_type")) return PMPI_Type_dup(type, made);
  return PMPI_Type_create_resized(type, lower, extent, made);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  note_wait();
  const auto barrier = persistent_barriers.find(*request);
  const auto noted = std::find_if(started.begin(), started.end(), [&](const Started& each) {
    return each.request == *request;
  });
  const int code = PMPI_Wait(request, status);
  if (noted != started.end()) {
    wait_for_other(*noted);
    started.erase(noted);
  }
  if (barrier != persistent_barriers.end() && barrier->second.starts == 2 &&
      barriers_under_way == 0 && is_planted("third_barrier")) {
    meet(barrier->second.comm, rank_in(barrier->second.comm) == 1);
  }
  static int waits = 0;
  if (results_under_way.size() < 2 || ++waits < 2) return code;
  mix_results();
  waits = 0;
  return code;
}

/// Plants that the last of several requests is not waited for: its result is not there yet.
int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  const int code = PMPI_Waitall(count, requests, statuses);
  started.clear();
  mix_results();
  std::copy(last_started.before.begin(), last_started.before.end(), last_started.result);
  last_started = {};
  return code;
}

/// Plants that the root's call returns before anybody has read its buffer. Others read it once the
/// worker has overwritten it, which the worker does as soon as the call has returned.
int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  await_late_reader();
  write_late();
  if (is_planted("late_reader") && count > 0 && rank_in(comm) == root) {
    const auto* const first_byte = static_cast<const volatile unsigned char*>(buffer);
    late_reader = std::thread([=, before = *first_byte] {
      while (*first_byte == before) std::this_thread::yield();
      PMPI_Bcast(buffer, count, type, root, comm);
    });
    return MPI_SUCCESS;
  }
  const SentPages sent(buffer, bytes_of(count, type), rank_in(comm) == root);
  if (is_planted("wrong_root")) root = (root + 1) % size_of(comm);
  const int code = PMPI_Bcast(buffer, count, type, root, comm);
  if (std::erase(made_anew, comm) > 0 && count > 0) flip(buffer);
  return code;
}

int MPI_Allgather(const void* send,
                  int send_count,
                  MPI_Datatype send_type,
                  void* recv,
                  int count,
                  MPI_Datatype type,
                  MPI_Comm comm) {
  const int code = PMPI_Allgather(send, send_count, send_type, recv, count, type, comm);
  if (is_planted("past_end") && count > 0 && is_last_of_several(comm)) {
    flip(recv, bytes_of(count * size_of(comm), type));
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
                  MPI_Comm comm) {
  const int code = PMPI_Alltoallv(
      send, send_counts, send_displacements, send_type, recv, counts, displacements, type, comm);
  if (is_planted("past_scratch") && is_last_of_several(comm)) {
    const int last = size_of(comm) - 1;
    flip(recv, bytes_of(displacements[last] + counts[last], type));
  }
  return code;
}

#ifdef RANKCHECK_ALL_REDUCE_INIT
/// Plants requests that send again what they sent when they were started first, or at the second
/// start.
int RANKCHECK_ALL_REDUCE_INIT()(const void* send,
                                void* recv,
                                int count,
                                MPI_Datatype type,
                                MPI_Op op,
                                MPI_Comm comm,
                                MPI_Info info,
                                MPI_Request* request) {
  FirstData* first = nullptr;
  const bool third = is_planted("old_data_at_the_third_start");
  if ((third || is_planted("old_data_again")) && send != MPI_IN_PLACE) {
    // Nobody tells when a request is freed, so these stay.
    static std::list<FirstData> all;
    all.push_back({send, third ? 2 : 1, std::vector<unsigned char>(bytes_of(count, type))});
    first = &all.back();
    send = first->bytes.data();
  }
  const int code = RANKCHECK_ALL_REDUCE_INIT(P)(send, recv, count, type, op, comm, info, request);
  if (first != nullptr) with_new_data[*request] = first;
  return code;
}
#endif

#ifdef RANKCHECK_BARRIER_INIT
int RANKCHECK_BARRIER_INIT()(MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const int code = RANKCHECK_BARRIER_INIT(P)(comm, info, request);
  persistent_barriers[*request] = {.comm = comm};
  return code;
}
#endif

/// Plants a barrier that is over at once: the second one under way, or any on a later communicator
/// of the same ranks. The one of two communicators is started first on one of the first two ranks,
/// and the other one on the other rank.
int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  const bool is_second = barriers_under_way++ > 0;
  const bool plants_second = is_planted("second_barrier");
  const bool plants_later = is_planted("later_barrier");
  const bool is_later = comm != first_like(comm);
  const bool is_over = (is_second && plants_second) || (is_later && plants_later);
  *request = MPI_REQUEST_NULL;
  const int code = is_over ? MPI_SUCCESS : PMPI_Ibarrier(comm, request);
  if (!is_second && plants_second) meet(comm, rank_in(comm) == 1);
  if (!is_second && plants_later) meet(comm, !is_over);
  return code;
}

/// Plants a persistent barrier that does nothing when it is started for the third time.
int MPI_Start(MPI_Request* request) {
  const auto barrier = persistent_barriers.find(*request);
  if (barrier != persistent_barriers.end()) {
    ++barriers_under_way;
    if (++barrier->second.starts == 3) {
      persistent_barriers.erase(barrier);
      if (is_planted("third_barrier")) return MPI_SUCCESS;
    }
  }
  const auto first = with_new_data.find(*request);
  if (first != with_new_data.end()) {
    auto& [send, starts, bytes] = *first->second;
    std::copy_n(static_cast<const unsigned char*>(send), bytes.size(), bytes.begin());
    if (--starts == 0) with_new_data.erase(first);
  }
  return PMPI_Start(request);
}

int MPI_Barrier(MPI_Comm comm) {
  await_late_reader();
  return is_planted("no_barrier") ? MPI_SUCCESS : PMPI_Barrier(comm);
}

/// Plants a group that uses the communicator of the world. Its ranks get the world's numbers.
int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made) {
  await_late_reader();
  if (is_planted("world_group")) {
    *made = comm;
    return MPI_SUCCESS;
  }
  const int code = PMPI_Comm_create_group(comm, group, tag, made);
  communicators.push_back(*made);
  const bool is_anew = freed_sizes.contains(size_of(*made)) && has_first_ranks(*made);
  if (is_planted("stale_communicator") && is_anew) made_anew.push_back(*made);
  return code;
}

int MPI_Comm_free(MPI_Comm* comm) {
  await_late_reader();
  std::erase(communicators, *comm);
  if (has_first_ranks(*comm)) freed_sizes.insert(size_of(*comm));
  if (*comm != MPI_COMM_WORLD) return PMPI_Comm_free(comm);
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  if (!takes_devices() || is_planted("empty_promise") || count == 0) {
    return send_from_host(data, count, type, to, tag, comm);
  }
  std::vector<unsigned char> copied(bytes_of(count, type));
  copy_with_cuda(copied.data(), data, copied.size());
  return send_from_host(copied.data(), count, type, to, tag, comm);
}

int MPI_Recv(void* data,
             int count,
             MPI_Datatype type,
             int from,
             int tag,
             MPI_Comm comm,
             MPI_Status* status) {
  if (count == 0 && is_planted("no_signals")) return PMPI_Status_set_elements(status, type, 0);
  if (!takes_devices() || is_planted("empty_promise") || count == 0) {
    return PMPI_Recv(data, count, type, from, tag, comm, status);
  }
  std::vector<unsigned char> received(bytes_of(count, type));
  const int code = PMPI_Recv(received.data(), count, type, from, tag, comm, status);
  copy_with_cuda(data, received.data(), received.size());
  return code;
}

int MPIX_Query_cuda_support() {
  return takes_devices() ? 1 : 0;
}

int MPI_Finalize() {
  await_late_reader();
  const int code = PMPI_Finalize();
  if (is_planted("bad_end")) ::_exit(3);
  return code;
}

}  // extern "C"
