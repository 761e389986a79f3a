#pragma once

#include <chrono>
#include <functional>
#include <limits>
#include <list>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "reference/spec/call.hpp"
#include "reference/spec/contract.hpp"

#include "gpu/device/nccl/algorithms.hpp"
#include "gpu/device/nccl/devices.hpp"
#include "gpu/device/nccl/library.hpp"
#include "gpu/device/nccl/log.hpp"

namespace rankcheck::gpu::nccl {

/// A call was not done in time; its communicators were aborted, and nothing more can be called.
class Hang : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The world, and which part of it this process is.
struct World {
  int ranks = 1;
  /// World ranks of this process, ascending: one, or all. Slot s of the devices belongs to the
  /// s-th.
  std::vector<int> local;
  /// Devices of this machine.
  int devices = 1;
  /// The least compute capability of the devices, times ten; a host is as capable as any.
  int least_capability = std::numeric_limits<int>::max();
  /// Whether NVLink joins every two of the devices in use, and NCCL may take it; memory of a host
  /// is as good.
  bool has_nvlink = true;
  /// Several ranks share a device, and so that NCCL takes them, each is a host of its own.
  bool shares_devices = false;
  /// How processes meet: publishes the value under the key or, where it is null, waits for another
  /// process to do so. Returns the value.
  std::function<std::string(const std::string& key, const std::string* value)> meet;
  /// Time that a call may take.
  std::chrono::duration<double> patience{20};
  /// NCCL's log; empty where it writes none.
  std::string log_path = {};
};

/// A call and how it is to be made, the same on every rank of the world.
struct Request {
  const Algorithm& algorithm;
  const spec::Contract& contract;
  const spec::Call& call;
  /// World ranks in group order.
  const std::vector<int>& group;
  bool in_place = false;
};

/// The part of a member of the group that this process has.
struct Member {
  int group_rank = 0;
  spec::Extents extents;
  std::byte* send = nullptr;
  std::byte* recv = nullptr;
  /// One element in host memory, for premul_sum.
  const std::byte* scalar = nullptr;
};

/// NCCL in one process: the communicators of its ranks, and calls on them. Every process of the
/// world makes the same calls of this class in the same order, members of a group or not, because
/// groups are split from the world.
class Runtime {
 public:
  /// Joins the world. Throws Error, and what World::meet does. All must outlive the runtime.
  Runtime(const Library& nccl, Devices& devices, World world);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime();

  /// Why there is no such call, in words; empty where there is. Every process says the same.
  [[nodiscard]] static std::string why_refused(const Library& nccl,
                                               const World& world,
                                               const Request& request);

  /// The slot of a world rank; -1 where it is in another process.
  [[nodiscard]] int slot_of(int world_rank) const;

  /// The three steps of a call; only the second is the call itself. All throw Error when NCCL
  /// returns one, and Hang when a call takes too long.
  void prepare(const Request& request);
  void perform(const Request& request, std::span<const Member> members);
  /// The path that was taken. Throws std::runtime_error where it is not the one that was forced.
  [[nodiscard]] std::string conclude(const Request& request, std::span<const Member> members);

 private:
  /// The communicators of one group, by slot; null where the slot's rank is no member.
  struct Group {
    std::vector<int> members;
    std::vector<ncclComm_t> communicators;
  };

  void join(Group& group, const std::string& key);
  void split(Group& group);
  void destroy(Group& group);
  /// Ends what the current call has left on the devices.
  void abort();
  [[nodiscard]] Part part_of(const Request& request, const Member& member);
  void wait(const Request& request, std::span<const Member> members);
  [[nodiscard]] int slot_of(const Request& request, const Member& member) const;

  /// Makes calls as one group; where one throws, the group is closed before.
  template <class Calls>
  void in_group(Calls calls);

  const Library& nccl_;
  Devices& devices_;
  World world_;
  std::optional<Log> log_;
  Group all_;
  /// Those that were used last, the most recent first.
  std::list<Group> groups_;
  int groups_made_ = 0;
  const Group* current_ = nullptr;
  bool aborted_ = false;
};

}  // namespace rankcheck::gpu::nccl
