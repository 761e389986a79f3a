#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nccl.h>
#include <unistd.h>

#include "tests/gpu/device/nccl/stand_in_comm.hpp"
#include "tests/gpu/device/nccl/stand_in_elements.hpp"

/// A library with NCCL's interface that works on host memory. Communicators are files that all
/// processes map; groups, splits and all collectives are simple implementations. RANKCHECK_STAND_IN
/// names a fault to plant. Another thread does the work, later than the call, as a device would. A
/// stream is a HostStream.
///
/// The stand-in checks what NCCL does not check: messages carry the arguments of the call, and both
/// sides must agree on them.
namespace rankcheck::stand_in {

namespace {

// The stand-in for an old library has no 8-bit floats. Its linker script hides the newer functions.
const int library_version = is_old ? 21703 : 22809;
const int type_count = is_old ? ncclBfloat16 + 1 : ncclNumTypes;

/// The arguments of a collective.
struct Arguments {
  Kind kind;
  const void* send = nullptr;
  void* recv = nullptr;
  std::size_t count = 0;
  ncclDataType_t type = ncclInt8;
  int op = ncclSum;
  int root = 0;
  /// See Signature.
  std::uint64_t place = 0;

  [[nodiscard]] bool reduces() const {
    return kind == all_reduce || kind == reduce || kind == reduce_scatter;
  }
  /// Returns the bytes of one block.
  [[nodiscard]] std::size_t bytes() const { return count * bytes_of(type); }
  [[nodiscard]] const std::byte* from(int block) const {
    return static_cast<const std::byte*>(send) + static_cast<std::size_t>(block) * bytes();
  }
  [[nodiscard]] std::byte* to(int block) const {
    return static_cast<std::byte*>(recv) + static_cast<std::size_t>(block) * bytes();
  }
  [[nodiscard]] Signature signature() const {
    return {.call = kind,
            .type = static_cast<std::uint32_t>(type),
            .op = static_cast<std::uint32_t>(std::min<int>(op, ncclNumOps)),
            .root = root,
            .bytes = bytes(),
            .place = place};
  }
};

bool is_legal(const ncclComm* comm, const Arguments& a) {
  if (comm == nullptr || a.type < 0 || a.type >= type_count) return false;
  if (a.root < 0 || a.root >= comm->ranks) return false;
  if (!a.reduces()) return true;
  if (spec::is_f8(type_of(a.type))) return false;
  return (a.op >= 0 && a.op < ncclNumOps) || comm->scalars.contains(a.op);
}

/// The place in a window of the buffer that every rank has. In place, one buffer contains the other
/// one, and its place counts.
std::uint64_t place_of(const ncclComm& comm, const Arguments& a) {
  const bool has_blocks = a.kind == reduce_scatter || a.kind == all_to_all || a.kind == scatter;
  const bool gets_blocks = a.kind == all_gather || a.kind == all_to_all || a.kind == gather;
  const auto* const send = a.from(0);
  const auto* const recv = a.to(0);
  const bool common_is_send = a.kind == reduce || a.kind == gather;
  const bool has_both = a.send != nullptr && a.recv != nullptr;
  const bool is_in_place = has_both && send < a.to(gets_blocks ? comm.ranks : 1) &&
                           recv < a.from(has_blocks ? comm.ranks : 1);
  if (is_in_place) return place_in_window(comm, std::min<const std::byte*>(send, recv));
  return place_in_window(comm, common_is_send ? send : recv);
}

void write(std::byte* to, const Message& message) {
  if (message.signature.bytes == 0) return;
  std::memcpy(to, message.bytes.data() + sizeof(Signature), message.signature.bytes);
}

/// Queues a call's messages. Each peer gets its own block, or all peers get the same block, or only
/// the root gets blocks.
void start(Work& work, const Arguments& a) {
  const ncclComm& comm = *work.comm;
  const Signature signature = a.signature();
  const bool is_root = comm.rank == a.root;
  for (int peer = 0; peer < comm.ranks; ++peer) {
    const bool to_all = a.kind == all_reduce || a.kind == all_gather;
    const bool each_its_own = a.kind == reduce_scatter || a.kind == all_to_all;
    const bool from_root = a.kind == broadcast || a.kind == scatter;
    const bool sends = to_all || each_its_own || (from_root ? is_root : peer == a.root);
    const int block = each_its_own || a.kind == scatter ? peer : 0;
    if (sends && a.reduces()) {
      const Bytes given = contribution(comm, type_of(a.type), a.op, a.from(block), signature.bytes);
      const std::byte none{};
      work.send(peer, signature, given.empty() ? &none : given.data());
    } else if (sends) {
      const std::byte none{};
      work.send(peer, signature, signature.bytes == 0 ? &none : a.from(block));
    }
    const bool receives = to_all || each_its_own || (from_root ? peer == a.root : is_root);
    if (receives) work.receive(peer, signature);
  }
}

/// Plants a published defect (NVIDIA/nccl#1950). When one rank multiplies its elements, two blocks
/// of threads take half of the elements each. The half is count / 2 without its fraction, rounded
/// up to packs of 16 bytes, so the last element may be left out.
void drop_tail(const Arguments& a, Bytes& result) {
  const bool is_float = a.type == ncclFloat16 || a.type == ncclFloat32 || a.type == ncclFloat64 ||
                        a.type == ncclBfloat16;
  const bool multiplies = a.op >= ncclNumOps || (a.op == ncclAvg && is_float);
  if (!multiplies || a.bytes() <= 16384) return;
  const std::size_t pack = 16 / bytes_of(a.type);
  const std::size_t half = (a.count / 2 + pack - 1) / pack * pack;
  result.resize(std::min(a.count, 2 * half) * bytes_of(a.type));
}

/// Plants a published defect of NCCL's symmetric kernels (b3aeda4a): they take buffers in windows
/// for aligned.
void misalign(const ncclComm& comm, const Arguments& a, Bytes& result) {
  constexpr std::uintptr_t alignment = 16;
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(a.recv) % alignment == 0;
  if (comm.is_last_of_several() && !is_aligned && place_in_window(comm, a.recv) != 0) {
    result.front() ^= std::byte{1};
  }
}

/// Plants a published defect of NCCL's symmetric kernels (ae7aed19): they move whole words of 8
/// bytes.
void move_too_much(const ncclComm& comm, const Arguments& a) {
  constexpr std::size_t word = 8;
  if (comm.is_last_of_several() && a.bytes() % word != 0 && place_in_window(comm, a.recv) != 0) {
    *a.to(a.kind == all_gather ? comm.ranks : 1) ^= std::byte{1};
  }
}

/// Plants the faults that show only in some memory, beside another call, or on one communicator.
void spoil_result(const Work& work, const Arguments& a) {
  const ncclComm& comm = *work.comm;
  if (!comm.is_last_of_several() || a.recv == nullptr) return;
  const bool strikes = (is_planted("registered_memory") && is_registered(comm, a.recv)) ||
                       (is_planted("operations_of_a_group") && work.is_beside_another) ||
                       (is_planted("newest_communicator") && work.is_on_newest);
  if (strikes) *a.to(0) ^= std::byte{1};
}

/// What faults keep of a captured call from launch to launch.
struct Launches {
  /// The number of calls that the graph had captured, with this one.
  int captured = 0;
  Bytes first_input = {};
  /// The payloads of the peers' messages in the last launch.
  std::map<std::size_t, Bytes> last_received = {};
};

/// Returns what the call's launches share. Null if the stream does not capture.
std::shared_ptr<Launches> launches_of(const HostStream& stream) {
  static thread_local const HostGraph* graph = nullptr;
  static thread_local int captured = 0;
  if (stream.capture == nullptr) return nullptr;
  // A new graph may have the address of one that was dropped. It begins with a copy.
  if (graph != stream.capture || stream.capture->parts.size() < 2) captured = 0;
  graph = stream.capture;
  return std::make_shared<Launches>(Launches{.captured = ++captured});
}

bool is_in_place(const ncclComm& comm, const Arguments& a) {
  return a.kind == all_gather && a.send == a.to(comm.rank);
}

/// Returns a copy of the call's input, which is not null.
Bytes input_of(const ncclComm& comm, const Arguments& a) {
  const bool has_blocks = a.kind == reduce_scatter || a.kind == all_to_all || a.kind == scatter;
  return {a.from(0), a.from(has_blocks ? comm.ranks : 1)};
}

/// Returns the arguments with the input of the first launch, if a fault keeps it: of any captured
/// call, or as in a published defect (torchcomms#2590) if it is in place and the fiftieth or later.
Arguments with_kept_input(const ncclComm& comm, Arguments a, Launches& launches) {
  constexpr int many = 50;
  const bool is_kept =
      is_planted("kept_input") ||
      (is_planted("kept_input_of_many") && is_in_place(comm, a) && launches.captured >= many);
  if (!is_kept || a.send == nullptr) return a;
  if (launches.first_input.empty()) launches.first_input = input_of(comm, a);
  a.send = launches.first_input.data();
  return a;
}

/// Plants a published defect of MSCCL++ (PR#502): the flags of the launch before are still set, so
/// that the rank takes what its peers sent then.
void wait_for_nobody(Work& work, Launches& launches) {
  if (!is_planted("kept_flags")) return;
  for (std::size_t i = 0; i < work.received.size(); ++i) {
    if (static_cast<int>(i) == work.comm->rank) continue;
    Message& message = *work.received[i];
    const Bytes now(message.payload(), message.payload() + message.signature.bytes);
    Bytes& before = launches.last_received[i];
    if (!before.empty()) std::copy(before.begin(), before.end(), message.payload());
    before = now;
  }
}

void finish(Work& work, const Arguments& a) {
  const ncclComm& comm = *work.comm;
  if (a.reduces()) {
    if (work.received.empty()) {
      if (a.kind == reduce && is_planted("off_root") && a.recv != nullptr) {
        *static_cast<std::byte*>(a.recv) ^= std::byte{1};
      }
      return;
    }
    Bytes result = combine(comm, type_of(a.type), a.op, work);
    if (is_planted("flipped_bit") && comm.is_last_of_several()) result.front() ^= std::byte{1};
    if (is_planted("between_hosts") && comm.has_hosts()) result.front() ^= std::byte{1};
    if (is_planted("behind_other") && work.is_behind_other) result.front() ^= std::byte{1};
    if (is_planted("unaligned_window")) misalign(comm, a, result);
    if (is_planted("one_rank_tail") && comm.ranks == 1) drop_tail(a, result);
    std::memcpy(a.recv, result.data(), result.size());
    spoil_result(work, a);
    return;
  }
  for (std::size_t i = 0; i < work.received.size(); ++i) {
    write(a.to(static_cast<int>(i)), *work.received[i]);
  }
  if (a.kind == all_gather && is_planted("past_end") && comm.is_last_of_several()) {
    *a.to(comm.ranks) ^= std::byte{1};
  }
  if (is_planted("symmetric_granularity")) move_too_much(comm, a);
  if (!work.received.empty()) spoil_result(work, a);
}

/// Returns the value that an environment variable has for a function; empty if it has none.
std::string forced_for(std::string_view function, const char* variable) {
  const char* const text = std::getenv(variable);
  std::string value = text == nullptr ? "" : text;
  const std::size_t colon = value.find(':');
  if (colon == std::string::npos) return value;
  return value.substr(0, colon) == function ? value.substr(colon + 1) : "";
}

/// Whether NCCL has an algorithm for a function. NCCL refuses a call that is forced to another
/// algorithm.
bool has_way(std::string_view function, const std::string& algorithm) {
  if (algorithm == "TREE") return function == "AllReduce";
  if (algorithm == "PAT") return function == "AllGather" || function == "ReduceScatter";
  return true;
}

void log_launch(const ncclComm& comm, std::string_view function, std::size_t bytes) {
  const char* const path = std::getenv("NCCL_DEBUG_FILE");
  const char* const subsystems = std::getenv("NCCL_DEBUG_SUBSYS");
  if (path == nullptr || subsystems == nullptr || comm.rank != 0 || comm.ranks == 1) return;
  if (is_planted("silent_log")) return;
  std::string algorithm = forced_for(function, "NCCL_ALGO");
  std::string protocol = forced_for(function, "NCCL_PROTO");
  if (algorithm.empty() || is_planted("other_path")) algorithm = "NVLS";
  if (protocol.empty()) protocol = "SIMPLE";
  std::FILE* const file = std::fopen(path, "a");
  if (file == nullptr) return;
  std::fprintf(
      file,
      "host:1:1 [0] NCCL INFO %.*s: %zu Bytes -> Algo %s proto %s channel{Lo..Hi}={0..0}\n",
      static_cast<int>(function.size()),
      function.data(),
      bytes,
      algorithm.c_str(),
      protocol.c_str());
  std::fclose(file);
}

/// Notes the host of a rank of the world for tests, in the file that RANKCHECK_STAND_IN_HOSTS
/// names.
void note_host(int rank) {
  const char* const path = std::getenv("RANKCHECK_STAND_IN_HOSTS");
  std::FILE* const file = path == nullptr ? nullptr : std::fopen(path, "a");
  if (file == nullptr) return;
  const char* const host = std::getenv("NCCL_HOSTID");
  std::fprintf(file, "%d %s\n", rank, host == nullptr ? "" : host);
  std::fclose(file);
}

/// Plants the faults that hit an all_reduce before it starts, on the last of several ranks.
ncclResult_t strike(ncclComm& comm, Work& work) {
  if (!comm.is_last_of_several()) return ncclSuccess;
  if (is_planted("abort")) std::abort();
  if (is_planted("error_code")) return ncclInvalidArgument;
  if (is_planted("system_error")) return ncclSystemError;
  if (is_planted("async_error")) comm.async_error = ncclRemoteError;
  if (is_planted("hang") || is_planted("async_error")) {
    // Nobody sends this message.
    work.start = [](Work& hanging) { hanging.receive(hanging.comm->rank, {}); };
  }
  return ncclSuccess;
}

ncclResult_t call(Arguments a, std::string_view function, ncclComm_t comm, cudaStream_t stream) {
  return in_group([&]() -> ncclResult_t {
    if (!is_legal(comm, a)) return ncclInvalidArgument;
    if (a.count == 0) return ncclSuccess;
    if (comm->ranks > 1 && !has_way(function, forced_for(function, "NCCL_ALGO"))) {
      return ncclInvalidUsage;
    }
    a.place = place_of(*comm, a);
    if (a.kind == broadcast && is_planted("wrong_root")) a.root = (a.root + 1) % comm->ranks;
    auto* const its = reinterpret_cast<HostStream*>(stream);
    Work work{.comm = comm,
              .stream = its,
              .start = [a](Work& w) { start(w, a); },
              .finish = [a](Work& w) { finish(w, a); },
              .kind = a.kind};
    const std::uint32_t before = std::exchange(comm->last_kind, a.kind);
    work.is_behind_other = before != a.kind && before != ~std::uint32_t{0};
    if (const std::shared_ptr<Launches> launches = launches_of(*its)) {
      work.start = [a, launches](Work& w) { start(w, with_kept_input(*w.comm, a, *launches)); };
      work.finish = [a, launches](Work& w) {
        if (a.kind == all_reduce) wait_for_nobody(w, *launches);
        finish(w, a);
      };
    }
    if (is_planted("overtakes") && a.send != nullptr) {
      // The call reads its input at once, although work that writes it may be on the stream.
      const auto kept = std::make_shared<const Bytes>(input_of(*comm, a));
      work.start = [a, kept](Work& w) {
        Arguments early = a;
        early.send = kept->data();
        start(w, early);
      };
    }
    if (a.kind == all_reduce) {
      if (is_planted("no_wait")) return ncclSuccess;
      const ncclResult_t result = strike(*comm, work);
      if (result != ncclSuccess) return result;
    }
    log_launch(*comm, function, a.bytes());
    open_group.job.push_back(std::move(work));
    return ncclSuccess;
  });
}

/// Color and key as ncclCommSplit exchanges them.
struct Choice {
  int color = 0;
  int key = 0;
};

/// The stand-in for old libraries does not use this function, because old libraries cannot split.
[[maybe_unused]] void finish_split(Work& work, ncclComm_t* made, int serial) {
  const ncclComm& parent = *work.comm;
  std::vector<Choice> choices;
  for (const auto& message : work.received) {
    Choice choice;
    std::memcpy(&choice, message->payload(), sizeof(choice));
    choices.push_back(choice);
  }
  const Choice own = choices[static_cast<std::size_t>(parent.rank)];
  if (own.color == NCCL_SPLIT_NOCOLOR) return;
  if (is_planted("world_group")) {
    ++work.comm->aliases;
    *made = work.comm;
    return;
  }
  std::vector<int> members;
  for (int r = 0; r < parent.ranks; ++r) {
    if (choices[static_cast<std::size_t>(r)].color == own.color) members.push_back(r);
  }
  if (!is_planted("group_order")) {
    std::stable_sort(members.begin(), members.end(), [&](int a, int b) {
      return choices[static_cast<std::size_t>(a)].key < choices[static_cast<std::size_t>(b)].key;
    });
  }
  const auto self = std::find(members.begin(), members.end(), parent.rank) - members.begin();
  const std::string path =
      parent.path + "-" + std::to_string(serial) + "-" + std::to_string(own.color);
  *made = attach(path, static_cast<int>(members.size()), static_cast<int>(self));
  (*made)->number = serial + 1;
}

}  // namespace

extern "C" {

/// Tells the worker to use a folder without room for shared memory. Only the stand-in that poses as
/// NCCL itself shows it.
extern const char* const rankcheck_nccl_shared_memory;
const char* const rankcheck_nccl_shared_memory = "/proc";
/// Tells the worker that memory is the host's. The other stand-ins show it.
extern const int rankcheck_nccl_on_host;
const int rankcheck_nccl_on_host = 1;

ncclResult_t ncclGetVersion(int* version) {
  *version = library_version;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  static const std::map<ncclResult_t, const char*> texts{
      {ncclSuccess, "no error"},
      {ncclSystemError, "unhandled system error"},
      {ncclInvalidArgument, "invalid argument"},
      {ncclInvalidUsage, "invalid usage"},
      {ncclRemoteError, "remote process exited or there was a network error"}};
  const auto found = texts.find(result);
  return found == texts.end() ? "another error" : found->second;
}

/// The identifier is a file's path, followed by bytes of every value that must arrive unchanged.
ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  static std::atomic<int> made{0};
  const char* const folder = std::getenv("TMPDIR");
  for (std::size_t i = 0; i < sizeof(id->internal); ++i) {
    id->internal[i] = static_cast<char>(255 - 3 * i);
  }
  std::snprintf(id->internal,
                96,
                "%s/stand-in-%d-%d",
                folder == nullptr ? "/tmp" : folder,
                static_cast<int>(::getpid()),
                made++);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  return in_group([&]() -> ncclResult_t {
    for (std::size_t i = 96; i < sizeof(id.internal); ++i) {
      if (id.internal[i] != static_cast<char>(255 - 3 * i)) return ncclInvalidArgument;
    }
    if (rank < 0 || rank >= ranks) return ncclInvalidArgument;
    const char* const blocks = std::getenv("NCCL_COMM_BLOCKING");
    if (blocks != nullptr && std::string_view(blocks) == "0") return ncclInProgress;
    note_host(rank);
    *comm = attach(id.internal, ranks, rank);
    open_group.joining.push_back(*comm);
    return ncclSuccess;
  });
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (is_planted("bad_end")) ::_exit(3);
  if (comm == nullptr) return ncclInvalidArgument;
  if (comm->aliases > 0) {
    --comm->aliases;
    return ncclSuccess;
  }
  wait_for_jobs();
  detach(comm);
  return ncclSuccess;
}

/// Keeps the memory, because work may still use it. The list lets a leak checker find it.
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  if (comm == nullptr) return ncclInvalidArgument;
  static auto* const kept = new std::vector<ncclComm_t>;
  kept->push_back(comm);
  comm->aborted = true;
  Bell::get().ring();
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  *error = static_cast<ncclResult_t>(comm->async_error.load());
  ++comm->looks;
  if (is_planted("early_for_stream")) Bell::get().ring();
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  ++open_group.depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (open_group.depth == 0) return ncclInvalidUsage;
  return --open_group.depth == 0 ? close_group() : ncclSuccess;
}

ncclResult_t ncclAllReduce(const void* send,
                           void* recv,
                           size_t count,
                           ncclDataType_t type,
                           ncclRedOp_t op,
                           ncclComm_t comm,
                           cudaStream_t stream) {
  return call({all_reduce, send, recv, count, type, op, 0}, "AllReduce", comm, stream);
}

ncclResult_t ncclAllGather(const void* send,
                           void* recv,
                           size_t count,
                           ncclDataType_t type,
                           ncclComm_t comm,
                           cudaStream_t stream) {
  return call({all_gather, send, recv, count, type}, "AllGather", comm, stream);
}

ncclResult_t ncclBroadcast(const void* send,
                           void* recv,
                           size_t count,
                           ncclDataType_t type,
                           int root,
                           ncclComm_t comm,
                           cudaStream_t stream) {
  return call({broadcast, send, recv, count, type, 0, root}, "Broadcast", comm, stream);
}

ncclResult_t ncclReduce(const void* send,
                        void* recv,
                        size_t count,
                        ncclDataType_t type,
                        ncclRedOp_t op,
                        int root,
                        ncclComm_t comm,
                        cudaStream_t stream) {
  return call({reduce, send, recv, count, type, op, root}, "Reduce", comm, stream);
}

ncclResult_t ncclReduceScatter(const void* send,
                               void* recv,
                               size_t count,
                               ncclDataType_t type,
                               ncclRedOp_t op,
                               ncclComm_t comm,
                               cudaStream_t stream) {
  return call({reduce_scatter, send, recv, count, type, op, 0}, "ReduceScatter", comm, stream);
}

ncclResult_t ncclSend(const void* send,
                      size_t count,
                      ncclDataType_t type,
                      int peer,
                      ncclComm_t comm,
                      cudaStream_t stream) {
  return in_group([&]() -> ncclResult_t {
    Arguments a{.kind = point_to_point, .send = send, .count = count, .type = type, .root = peer};
    if (!is_legal(comm, a)) return ncclInvalidArgument;
    a.root = 0;
    const std::byte* const from = count == 0 ? reinterpret_cast<const std::byte*>(&types)
                                             : static_cast<const std::byte*>(send);
    open_group.job.push_back({.comm = comm,
                              .stream = reinterpret_cast<HostStream*>(stream),
                              .start = [=](Work& work) { work.send(peer, a.signature(), from); },
                              .finish = [](Work&) {}});
    return ncclSuccess;
  });
}

ncclResult_t ncclRecv(
    void* recv, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream) {
  return in_group([&]() -> ncclResult_t {
    Arguments a{.kind = point_to_point, .recv = recv, .count = count, .type = type, .root = peer};
    if (!is_legal(comm, a)) return ncclInvalidArgument;
    a.root = 0;
    open_group.job.push_back(
        {.comm = comm,
         .stream = reinterpret_cast<HostStream*>(stream),
         .start = [=](Work& work) { work.receive(peer, a.signature()); },
         .finish = [=](Work& work) { write(a.to(0), *work.received.front()); }});
    return ncclSuccess;
  });
}

ncclResult_t ncclRedOpCreatePreMulSum(
    ncclRedOp_t* op, void* scalar, ncclDataType_t type, ncclScalarResidence_t, ncclComm_t comm) {
  if (comm == nullptr || type < 0 || type >= type_count) return ncclInvalidArgument;
  const auto* const from = static_cast<const std::byte*>(scalar);
  // Numbers differ from rank to rank, so that no caller gets by with a constant.
  int number = ncclNumOps + comm->rank;
  while (comm->scalars.contains(number)) ++number;
  comm->scalars[number] = Bytes(from, from + bytes_of(type));
  *op = static_cast<ncclRedOp_t>(number);
  return ncclSuccess;
}

ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm) {
  return comm->scalars.erase(op) == 1 ? ncclSuccess : ncclInvalidArgument;
}

const char* ncclGetLastError(ncclComm_t) {
  return "";
}

ncclResult_t ncclAlltoAll(const void* send,
                          void* recv,
                          size_t count,
                          ncclDataType_t type,
                          ncclComm_t comm,
                          cudaStream_t stream) {
  return call({all_to_all, send, recv, count, type}, "AlltoAll", comm, stream);
}

ncclResult_t ncclGather(const void* send,
                        void* recv,
                        size_t count,
                        ncclDataType_t type,
                        int root,
                        ncclComm_t comm,
                        cudaStream_t stream) {
  return call({gather, send, recv, count, type, 0, root}, "Gather", comm, stream);
}

ncclResult_t ncclScatter(const void* send,
                         void* recv,
                         size_t count,
                         ncclDataType_t type,
                         int root,
                         ncclComm_t comm,
                         cudaStream_t stream) {
  return call({scatter, send, recv, count, type, 0, root}, "Scatter", comm, stream);
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* made, ncclConfig_t*) {
  return in_group([&]() -> ncclResult_t {
    if (comm == nullptr || color < NCCL_SPLIT_NOCOLOR) return ncclInvalidArgument;
    if (is_planted("no_split")) return ncclInvalidUsage;
    *made = nullptr;
    const Choice own{color, key};
    const int serial = comm->splits++;
    const Signature signature{.call = split, .root = serial, .bytes = sizeof(own)};
    open_group.job.push_back({.comm = comm,
                              .start =
                                  [=](Work& work) {
                                    for (int peer = 0; peer < comm->ranks; ++peer) {
                                      work.send(peer, signature, &own);
                                      work.receive(peer, signature);
                                    }
                                  },
                              .finish = [=](Work& work) { finish_split(work, made, serial); }});
    open_group.synchronises = true;
    return ncclSuccess;
  });
}

}  // extern "C"

}  // namespace rankcheck::stand_in
