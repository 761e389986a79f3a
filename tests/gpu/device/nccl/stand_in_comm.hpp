#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nccl.h>

#include "gpu/device/nccl/devices.hpp"

#include "tests/gpu/device/nccl/stand_in_windows.hpp"

/// The stand-in's communicators. All their processes map one file. Messages carry the call's
/// arguments, which both sides must agree on. Another thread does the work, later than the call.
namespace rankcheck::stand_in {

using gpu::nccl::HostGraph;
using gpu::nccl::HostStream;
using Bytes = std::vector<std::byte>;

/// Whether the library is an old version; see stand_in_variant.cpp.
extern const bool is_old;

/// Whether the library has this fault.
[[nodiscard]] bool is_planted(std::string_view fault);

/// Bytes on their way from one rank to another. A ring of zeros is empty.
struct Ring {
  static constexpr std::size_t size = 4096;
  std::atomic<std::uint64_t> written;
  std::atomic<std::uint64_t> read;
  std::array<std::byte, size> bytes;
};

/// Wakes the thread that does a process's jobs. Another process rings when it has moved bytes. Each
/// process has one bell.
class Bell {
 public:
  static Bell& get();
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  /// The number of this process's bell. The system chooses it.
  [[nodiscard]] unsigned number() const { return number_; }
  /// Lets the next wait() of a process return, or one that has begun.
  void ring(unsigned number) const;
  void ring() const { ring(number_); }
  void wait() const;

 private:
  Bell();

  int socket_;
  unsigned number_ = 0;
};

struct Counts {
  std::atomic<int> arrived;
  std::atomic<int> left;
  /// The sum of the hashes of the ranks' hosts.
  std::atomic<std::uint64_t> hosts;
};

/// The calls that send messages.
enum Kind : std::uint32_t {
  all_reduce = 1,
  all_gather,
  broadcast,
  reduce,
  reduce_scatter,
  all_to_all,
  gather,
  scatter,
  point_to_point,
  split,
  register_window
};

/// The arguments of a call on which both sides of a message must agree.
struct Signature {
  std::uint32_t call = 0;
  std::uint32_t type = 0;
  std::uint32_t op = 0;
  std::int32_t root = 0;
  std::uint64_t bytes = 0;
  /// The place of the buffers in a window, see place_in_window(). For the registration of a window,
  /// its size.
  std::uint64_t place = 0;

  friend bool operator==(const Signature&, const Signature&) = default;
};

struct Message {
  Signature signature;
  /// The signature, followed by the payload.
  Bytes bytes;
  std::size_t done = 0;

  [[nodiscard]] bool is_complete() const { return done == bytes.size(); }
  [[nodiscard]] std::byte* payload() { return bytes.data() + sizeof(Signature); }
};

}  // namespace rankcheck::stand_in

/// One rank's end of a communicator.
struct ncclComm {
  std::string path;
  int rank = 0;
  int ranks = 1;
  std::size_t mapped_bytes = 0;
  rankcheck::stand_in::Counts* counts = nullptr;
  rankcheck::stand_in::Ring* rings = nullptr;
  /// The bells of the ranks' processes.
  std::atomic<unsigned>* bells = nullptr;
  /// The hash of this rank's NCCL_HOSTID.
  std::uint64_t host = 0;
  int splits = 0;
  /// The number of this communicator among those that were split from its parent, from 1. 0 if it
  /// has no parent.
  int number = 0;
  /// The kind of the call before, or a number that is none.
  std::uint32_t last_kind = ~std::uint32_t{0};
  /// How many groups use this communicator as their own, because of the fault `world_group`.
  std::atomic<int> aliases{0};
  std::atomic<int> async_error{ncclSuccess};
  std::atomic<bool> aborted{false};
  /// How often the program has asked for async_error, as it does while it waits.
  std::atomic<int> looks{0};
  /// One element by the number of its op.
  std::map<int, rankcheck::stand_in::Bytes> scalars;
  std::vector<std::unique_ptr<ncclWindow_vidmem>> windows;
  /// The memory of ncclCommRegister.
  std::vector<std::unique_ptr<ncclWindow_vidmem>> registered;
  /// Messages by peer, in order.
  std::vector<std::deque<std::shared_ptr<rankcheck::stand_in::Message>>> outgoing;
  std::vector<std::deque<std::shared_ptr<rankcheck::stand_in::Message>>> incoming;

  [[nodiscard]] rankcheck::stand_in::Ring& ring(int from, int to) const {
    return rings[from * ranks + to];
  }
  /// Whether the ranks are on several hosts.
  [[nodiscard]] bool has_hosts() const {
    return counts->hosts != host * static_cast<std::uint64_t>(ranks);
  }
  [[nodiscard]] bool is_last_of_several() const { return rank > 0 && rank == ranks - 1; }
};

namespace rankcheck::stand_in {

/// Returns one rank's end, which detach() deletes. Creates the file if it does not exist.
[[nodiscard]] ncclComm* attach(const std::string& path, int ranks, int rank);
/// Deletes an end. The last end removes the file.
void detach(ncclComm* comm);

/// A call of one rank in three parts: what it sends, what it receives, and what it does at the end.
struct Work {
  ncclComm* comm = nullptr;
  HostStream* stream = nullptr;
  std::function<void(Work&)> start = {};
  std::function<void(Work&)> finish = {};
  std::uint32_t kind = 0;
  /// Whether the group has another operation on the same communicator.
  bool is_beside_another = false;
  /// Whether the group has several communicators, and this one was made last.
  bool is_on_newest = false;
  /// Whether the call before on this communicator was one of another function.
  bool is_behind_other = false;
  std::vector<std::shared_ptr<Message>> received = {};

  void send(int to, const Signature& signature, const void* payload) const;
  void receive(int from, const Signature& signature);
};

using Job = std::vector<Work>;

/// Waits until all jobs of this process are done.
void wait_for_jobs();

/// This thread's calls since ncclGroupStart.
struct OpenGroup {
  int depth = 0;
  Job job;
  std::vector<ncclComm*> joining;
  bool synchronises = false;
  ncclResult_t error = ncclSuccess;
};
extern thread_local OpenGroup open_group;

/// Waits until all ends of new communicators have arrived, then hands the group's calls over, or
/// adds them to the graphs that their streams capture.
ncclResult_t close_group();

/// Adds a call to the open group, or makes a group of this call.
template <class Add>
ncclResult_t in_group(Add add) {
  ++open_group.depth;
  const ncclResult_t result = add();
  if (result != ncclSuccess && open_group.error == ncclSuccess) open_group.error = result;
  return --open_group.depth == 0 ? close_group() : result;
}

}  // namespace rankcheck::stand_in
