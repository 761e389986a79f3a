#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reference/spec/reduce_op.hpp"
#include "reference/spec/type.hpp"

#include "gpu/device/sim/arena.hpp"
#include "gpu/device/sim/combine.hpp"
#include "gpu/device/sim/fault.hpp"
#include "gpu/plan/monitor.hpp"
#include "gpu/plan/plan.hpp"
#include "gpu/plan/schedule.hpp"

namespace rankcheck::gpu::sim {

/// The memory that a rank brings into a call; the caller's, at any alignment. Both may overlap.
struct RankBuffers {
  std::byte* send = nullptr;
  std::byte* recv = nullptr;
  std::int64_t send_bytes = 0;
  std::int64_t recv_bytes = 0;
};

enum class Status : std::uint8_t { completed, deadlock, race, memory_violation, malformed };

/// When a rank came and went, as positions in the run's one order of moves; -1: never.
struct RankTimes {
  std::int64_t entered = -1;
  std::int64_t left = -1;
  /// The rank left after every rank had entered, whatever the schedule.
  bool left_after_every_entry = false;
};

/// What a run did besides filling buffers.
struct Report {
  Status status = Status::completed;
  /// What is wrong, naming ranks, steps and ranges; empty when completed.
  std::string text;
  /// The fault met a step that it could befall.
  bool fault_fired = false;
  /// The fault made some bytes differ from what they would have been at that moment, or stopped a
  /// rank. A fault that fired without it had no effect to be found.
  bool fault_changed = false;
  std::vector<RankTimes> ranks;
  /// Moves taken, entering and leaving included; messages among them, and their bytes.
  std::int64_t moves = 0;
  std::int64_t messages = 0;
  std::int64_t message_bytes = 0;
};

/// Executes plans on simulated devices: one thread, one order of moves for a schedule, every
/// access checked. Keeps its memory from run to run; one simulator serves one thread.
class Simulator {
 public:
  /// Runs a plan for an element type and op, which must be defined for each other. `scalars` holds
  /// one element for each rank where op is premul_sum. The report stays valid until the next run.
  const Report& run(const plan::Plan& plan,
                    spec::Type type,
                    spec::ReduceOp op,
                    std::span<const RankBuffers> buffers,
                    std::span<const std::byte> scalars,
                    const plan::Schedule& schedule,
                    const std::optional<Fault>& fault = std::nullopt);

 private:
  void begin_scratch(std::uint64_t seed);
  void begin_fault();
  void walk();
  void fail(const plan::Violation& violation);
  void check_guards();
  /// Whether the next move is the one at which its rank dies.
  [[nodiscard]] bool dies();
  /// Performs a move that the monitor allowed.
  void perform(const plan::Move& move);
  void perform_step(const plan::Move& move, const plan::Step& step);
  void perform_faulty(const plan::Move& move, const plan::Step& step);
  /// Writes what the step makes of its sources to `destination` instead of the step's own.
  void deliver(const plan::Step& step, std::byte* destination, bool stale = false);
  [[nodiscard]] bool befalls(const plan::Step& step, bool is_message);
  /// Keeps the payload for a later delivery, which `deliver_held` makes when it is due after a step
  /// of the receiver (null: it leaves).
  void hold(const plan::Move& move, const plan::Step& step);
  void deliver_held(int rank, const plan::Step* step);
  void overwrite(std::byte* destination);
  [[nodiscard]] std::byte* address(const plan::Range& range) const;
  [[nodiscard]] const std::byte* address_on_entry(const plan::Range& range) const;

  // The run at hand.
  const plan::Plan* plan_ = nullptr;
  spec::Type type_ = spec::Type::f32;
  spec::ReduceOp op_ = spec::ReduceOp::none;
  std::int64_t element_bytes_ = 1;
  std::span<const std::byte> scalars_;

  plan::Scheduler scheduler_;
  plan::Monitor monitor_;
  Report report_;
  /// Base addresses: bases_[rank][buffer], and the same memory as the monitor sees it.
  std::vector<std::array<std::byte*, 3>> bases_;
  std::vector<plan::RankMemory> memory_;
  std::vector<Source> sources_;

  /// Bytes of each rank's scratch, and the scratch itself.
  std::vector<std::int64_t> scratch_bytes_;
  Arena arena_;

  // Faults.
  std::optional<Fault> fault_;
  std::int64_t candidates_ = 0;
  /// What the struck step would have written; the step, while that is still to be delivered; the
  /// event that tells the receiver of it, and whether the receiver took it for delivered.
  std::vector<std::byte> payload_;
  const plan::Step* held_ = nullptr;
  std::int32_t announced_by_ = -1;
  bool receiver_went_on_ = false;
  /// Copies of all memory on entry, for stale messages.
  std::vector<std::byte> snapshot_;
  std::vector<std::array<std::size_t, 3>> snapshot_at_;
};

}  // namespace rankcheck::gpu::sim
