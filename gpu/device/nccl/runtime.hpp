#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <list>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "reference/spec/call.hpp"
#include "reference/spec/collective.hpp"

#include "gpu/device/nccl/algorithms.hpp"
#include "gpu/device/nccl/companions.hpp"
#include "gpu/device/nccl/devices.hpp"
#include "gpu/device/nccl/library.hpp"
#include "gpu/device/nccl/log.hpp"
#include "gpu/device/nccl/windows.hpp"

namespace rankcheck::gpu::nccl {

/// A call did not finish in time. Its communicators were aborted, and nothing more can be called.
class Hang : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The world of all ranks, and the part of it that this process has.
struct World {
  int ranks = 1;
  /// World ranks of this process, ascending: one rank, or all. Slot s of the devices belongs to
  /// local[s].
  std::vector<int> local;
  /// The number of devices of this machine.
  int devices = 1;
  /// The least compute capability of the devices, times ten. Host memory counts as the largest
  /// possible value.
  int least_capability = std::numeric_limits<int>::max();
  /// Whether NVLink connects every pair of the devices in use, and NCCL may use it. True for host
  /// memory.
  bool has_nvlink = true;
  /// Whether all devices in use can reach each other's memory, and NCCL may use it. True for host
  /// memory.
  bool reaches_peers = true;
  /// True if several ranks share a device. Then each rank is a host of its own, so that NCCL
  /// accepts them.
  bool shares_devices = false;
  /// Lets processes meet. Publishes the value under the key, or waits for another process to
  /// publish it if `value` is null. Returns the value.
  std::function<std::string(const std::string& key, const std::string* value)> meet;
  /// The time limit for a call, in seconds.
  std::chrono::duration<double> patience{20};
  /// The path of NCCL's log; empty if NCCL writes none.
  std::string log_path = {};
};

/// A call and the way to make it. It must be the same on every rank of the world.
struct Request {
  const Algorithm& algorithm;
  const spec::Contract& contract;
  const spec::Call& call;
  /// World ranks in group order.
  const std::vector<int>& group;
  bool in_place = false;
  /// Elements of a pack, for algorithms that pack; 0 means one pack.
  std::int64_t chunk = 0;
  /// The host of each world rank. Empty if all ranks are on one host, or if only the number of
  /// devices decides.
  std::vector<int> hosts = {};
  /// How often the call is captured, for algorithms with a graph.
  int captured = 1;
  /// Whether the two communicators of an algorithm are swapped. Only one of the two calls is looked
  /// at, so each communicator has its turn.
  bool on_second = false;
};

/// The memory of one rank that a call uses, and its place in a window.
struct WindowPlace {
  /// One run of bytes that contains the buffers and everything that is looked at after the call.
  std::byte* memory = nullptr;
  std::int64_t bytes = 0;
  /// The offset of `memory` in the window. It gives the buffers the same place in the windows of
  /// all ranks.
  std::int64_t offset = 0;
  /// The size of the window, which is the same on all ranks.
  std::int64_t window_bytes = 0;
};

/// A member of the group that is in this process, and its memory.
struct Member {
  int group_rank = 0;
  spec::Extents extents;
  std::byte* send = nullptr;
  std::byte* recv = nullptr;
  /// One element in host memory if the op is premul_sum.
  const std::byte* scalar = nullptr;
  /// Needed by algorithms that use windows or registered memory, or make several calls. Only the
  /// former have a window.
  WindowPlace place = {};
  /// Memory like `place.memory`, with other data, for algorithms that make several calls.
  std::array<std::byte*, 2> others = {};
};

/// A call of one group, with the members that this process has. May be none.
struct GroupCall {
  Request request;
  std::vector<Member> members;
};

/// NCCL in one process: the communicators of its ranks, and calls on them. Groups are split from
/// the world. So every process of the world must make the same calls of this class in the same
/// order. This includes processes that have no member of the group.
class Runtime {
 public:
  /// Joins the world. Throws Error, and the exceptions of World::meet. `nccl` and `devices` must
  /// outlive the runtime.
  Runtime(const Library& nccl, Devices& devices, World world);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime();

  /// Says why such a call cannot be made; empty if it can. Every process gives the same answer.
  [[nodiscard]] static std::string why_refused(const Library& nccl,
                                               const World& world,
                                               const Request& request);

  /// The slot of a world rank; -1 if the rank is in another process.
  [[nodiscard]] int slot_of(int world_rank) const;

  /// prepare(), make_ready(), start(), finish() and conclude() are the steps of a call; only
  /// start() makes the call itself. The first four throw Error if NCCL returns an error. prepare()
  /// also throws the exceptions of World::meet. finish() throws Hang if the call takes too long,
  /// and so does start() if the ranks have threads.
  void prepare(const Request& request);
  /// Opens the windows of the calls that the next start() makes, which finish() closes, and fills
  /// the memory of the calls that are made beside them. Throws NoWindow if NCCL gives no window;
  /// then the calls cannot be made.
  void make_ready(std::span<const GroupCall> calls);
  /// Makes calls of groups that have no rank in common, all at the same time, behind the calls that
  /// are under way. `behind` enqueues work behind the calls; it may be null. What the requests
  /// refer to must stay until finish().
  void start(std::span<const GroupCall> calls, const std::function<void()>& behind = nullptr);
  /// Waits for the calls that are under way.
  void finish();
  void perform(std::span<const GroupCall> calls, const std::function<void()>& behind = nullptr) {
    start(calls, behind);
    finish();
  }
  /// Frees the communicators of groups that were not used for long. Every process of the world must
  /// do it at the same place between calls.
  void forget_groups();
  /// Frees the communicators of a group, likewise.
  void forget(const std::vector<int>& members);
  /// Returns the path that was taken. Throws WrongPath if it is not the forced path.
  [[nodiscard]] std::string conclude(const Request& request, std::span<const Member> members);

 private:
  /// The communicators of one group. communicators[slot] is null if the slot's rank is no member.
  struct Group {
    std::vector<int> members;
    /// Whether another group has the same members, and calls beside this one.
    bool is_second = false;
    std::vector<ncclComm_t> communicators;
  };

  /// What one rank of this process does in a call.
  struct LocalPart {
    int slot = 0;
    void (*perform)(const Part& part) = nullptr;
    Part part;
  };

  struct SharedParts;

  void join(Group& group, const std::string& key);
  void split(Group& group);
  void destroy(Group& group);
  /// Aborts the work of these calls on the devices.
  void abort(std::span<const GroupCall> calls);
  /// Makes the communicators of a group, or marks the group as just used.
  void make_group(const std::vector<int>& members, bool is_second);
  [[nodiscard]] std::list<Group>::iterator find_group(const std::vector<int>& members,
                                                      bool is_second);
  [[nodiscard]] Group& group_of(const Request& request, bool is_second);
  [[nodiscard]] ncclComm_t communicator_of(const Request& request,
                                           const Member& member,
                                           bool is_second = false);
  /// All communicators that the call uses.
  [[nodiscard]] std::vector<ncclComm_t> communicators_of(const GroupCall& call);
  /// The op that multiplies by the rank's scalar. The packs of a list share it.
  [[nodiscard]] ncclRedOp_t op_of(const Part& part, int slot, const std::byte* scalar);
  [[nodiscard]] Part part_of(const Request& request, const Member& member, bool is_second = false);
  /// Enqueues calls for lists as calls for packs.
  void enqueue_packed(std::span<const GroupCall> calls);
  /// Enqueues copies of the member's arrays, one behind another. Returns the member with these
  /// buffers.
  [[nodiscard]] Member pack(const Request& request, const Member& list);
  /// Enqueues copies of the result back to the arrays.
  void unpack(const Request& request, const Member& packed, const Member& list);
  /// Enqueues copies of the buffers into the windows, the calls there, and copies back.
  void enqueue_in_windows(std::span<const GroupCall> calls);
  /// Captures the call, and enqueues launches with other data and then with the call's own data.
  void enqueue_graph(const GroupCall& call);
  /// Returns the graphs of all members, which take each call's data from `fresh`.
  [[nodiscard]] std::vector<int> capture(const GroupCall& call,
                                         const std::vector<std::byte*>& fresh);
  /// Enqueues the call in one group with a companion and with a call on another communicator.
  void enqueue_aggregated(const GroupCall& call);
  void enqueue(std::span<const GroupCall> calls);
  /// Lets each rank enqueue its part in a thread of its own. Throws Hang if a thread takes too
  /// long.
  void enqueue_in_threads(std::span<const GroupCall> calls, std::vector<LocalPart> parts);
  void check_errors(const GroupCall& call);
  [[nodiscard]] int slot_of(const Request& request, const Member& member) const;

  /// Makes calls as one NCCL group. If one throws, the group is closed first.
  template <class Calls>
  void in_group(Calls calls);

  const Library& nccl_;
  Devices& devices_;
  World world_;
  std::optional<Log> log_;
  Group all_;
  /// The groups that were used last, the most recent first.
  std::list<Group> groups_;
  int groups_made_ = 0;
  Windows windows_;
  Companions companions_;
  std::vector<GroupCall> under_way_;
  /// The ops that were made for the calls under way, with their communicators. Those of the last
  /// start() begin at `first_op_`.
  std::vector<std::pair<ncclRedOp_t, ncclComm_t>> ops_;
  std::size_t first_op_ = 0;
  bool aborted_ = false;
};

}  // namespace rankcheck::gpu::nccl
