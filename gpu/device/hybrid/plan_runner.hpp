#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "gpu/device/hybrid/devices.hpp"
#include "gpu/device/hybrid/members.hpp"
#include "gpu/device/hybrid/processes.hpp"
#include "gpu/device/rank_memory.hpp"
#include "gpu/plan/plan.hpp"
#include "gpu/plan/schedule.hpp"

namespace rankcheck::gpu::hybrid {

/// How a message leaves the memory of a device: through memory of the host, or by giving the
/// device's addresses to MPI.
enum class Transport : std::uint8_t { staged, direct };

/// A plan to be run by all processes that host a member of the group.
struct PlanCall {
  const plan::Plan& plan;
  /// members[r] and memory[r] belong to rank r of the group.
  std::span<const Member> members;
  std::span<const RankMemory> memory;
  /// transports[r]: how the messages of rank r's call leave the memory of devices.
  std::span<const Transport> transports;
  /// Whether the ranks wait for one another even where no data moves. Signals between processes are
  /// then messages of their own. Otherwise the messages with data keep the order.
  bool synchronises = false;
  /// Called just before a rank of this process enters, and after all of its work is done. May be
  /// null.
  std::function<void(int rank)> entering = nullptr;
  std::function<void(int rank)> left = nullptr;
};

/// Runs plans on the devices of several processes. Every process walks through the whole plan in
/// the same order and does its own part of each step. So both ends of a message come to it at the
/// same point of the walk, and blocking messages cannot wait for one another in a circle.
///
/// Two routines do all the work. `move` brings elements of one rank to another rank. `reduce`
/// combines elements of several ranks: each process combines what its own devices hold, and the
/// destination's process combines these partial results. The grouping depends on the order of the
/// sources only, so ranks that reduce the same sources get the same bits.
class PlanRunner {
 public:
  /// Both must outlive the object.
  PlanRunner(Processes& processes, Devices& devices) : processes_(processes), devices_(devices) {}

  /// Starts a call, in which several plans may run. The devices' call must have begun.
  void begin(std::size_t places) { temporaries_.assign(places, {}); }

  /// Runs this process's part of a plan. Work of the devices may be left when it returns. Throws
  /// DeviceError and mpi::Error.
  void run(const PlanCall& call);

 private:
  /// Memory of a place for partial results.
  struct Temporary {
    std::byte* begin = nullptr;
    std::int64_t bytes = 0;
  };
  /// The sources of a reduction that one process hosts.
  struct Part {
    int process = 0;
    std::vector<plan::Range> sources;
  };

  void take(int rank, const plan::Step& step);
  void wait(int rank, plan::Event event);
  void move(int actor, const plan::Step& step, const plan::Range& source);
  void reduce(int actor, const plan::Step& step);
  /// Combines the sources of a part. Returns the result, which is the source itself if there is
  /// nothing to combine.
  [[nodiscard]] std::byte* partial(int place, const Part& part, std::byte* room);
  void combine(int place,
               std::byte* destination,
               std::span<const plan::Range> sources,
               std::int64_t count,
               int divisor);
  /// Send from, or receive to, the place of a rank.
  void send(int process, int rank, const std::byte* data, std::int64_t bytes);
  void receive(int process, int rank, std::byte* data, std::int64_t bytes);

  [[nodiscard]] std::vector<Part> parts_of(const plan::Step& step) const;
  [[nodiscard]] std::byte* temporary(int place, std::int64_t bytes);
  [[nodiscard]] const Member& member(int rank) const;
  [[nodiscard]] bool is_here(int process) const { return process == processes_.rank(); }
  /// The bytes of as many elements of a rank.
  [[nodiscard]] std::int64_t bytes_of(int rank, std::int64_t count) const;
  [[nodiscard]] std::byte* address(const plan::Range& range) const;

  Processes& processes_;
  Devices& devices_;
  const PlanCall* call_ = nullptr;
  plan::Scheduler scheduler_;
  /// signallers_[event]: the rank that signals the event.
  std::vector<int> signallers_;
  std::vector<Temporary> temporaries_;
  std::vector<Source> sources_;
  /// Memory of the host through which staged messages go.
  std::vector<std::byte> staging_;
};

}  // namespace rankcheck::gpu::hybrid
