#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu/device/sim/arena.hpp"
#include "gpu/device/sim/combine.hpp"
#include "gpu/device/sim/fault.hpp"
#include "gpu/plan/monitor.hpp"
#include "gpu/plan/plan.hpp"
#include "gpu/plan/schedule.hpp"

namespace rankcheck::gpu::sim {

/// A rank's memory in a call. It belongs to the caller and may have any alignment. send and recv
/// may overlap.
struct RankBuffers {
  std::byte* send = nullptr;
  std::byte* recv = nullptr;
  std::int64_t send_bytes = 0;
  std::int64_t recv_bytes = 0;
  /// The content of `send`, which arrives when the rank enters. Null: it is there already.
  const std::byte* arriving = nullptr;
  /// One element if the op is premul_sum.
  const std::byte* scalar = nullptr;
};

enum class Status : std::uint8_t { completed, deadlock, race, memory_violation, malformed };

/// The times at which a rank entered and left, as positions in the run's order of moves; -1 means
/// never.
struct RankTimes {
  std::int64_t entered = -1;
  std::int64_t left = -1;
  /// True if the rank left after every rank of its call had entered, in any schedule.
  bool left_after_every_entry = false;
};

/// The results of a run besides the filled buffers.
struct Report {
  Status status = Status::completed;
  /// Describes the error with ranks, steps and ranges; empty if the run completed.
  std::string text;
  /// True if the fault met a step that it can affect.
  bool fault_fired = false;
  /// True if the fault changed some bytes from what they would have been at that moment, or stopped
  /// a rank. A fault that fired without changing anything had no effect that a check could find.
  bool fault_changed = false;
  std::vector<RankTimes> ranks;
  /// The number of moves, including entering and leaving; the number of messages among them, and
  /// their bytes.
  std::int64_t moves = 0;
  std::int64_t messages = 0;
  std::int64_t message_bytes = 0;
};

/// Executes plans on simulated devices in one thread. A schedule determines the order of moves, and
/// every access is checked. Keeps its memory from run to run. A simulator serves one thread.
class Simulator {
 public:
  /// Runs a plan. The report is valid until the next run.
  const Report& run(const plan::Plan& plan,
                    std::span<const RankBuffers> buffers,
                    const plan::Schedule& schedule,
                    const std::optional<Fault>& fault = std::nullopt);

 private:
  void begin_scratch(std::uint64_t seed);
  void begin_fault();
  void walk();
  void fail(const plan::Violation& violation);
  void check_guards();
  /// Whether the next move is the one at which its rank stops.
  [[nodiscard]] bool dies();
  /// Performs a move that the monitor allowed.
  void perform(const plan::Move& move);
  void enter(std::size_t rank, std::int64_t stamp);
  void perform_step(const plan::Move& move, const plan::Step& step);
  void perform_faulty(const plan::Move& move, const plan::Step& step);
  /// Writes the step's result to `destination` instead of the step's own destination.
  void deliver(const plan::Step& step, std::byte* destination, bool stale = false);
  [[nodiscard]] bool befalls(const plan::Step& step, bool is_message);
  /// Keeps the payload for later. `deliver_held` delivers it after the right step of the receiver.
  /// A null step means that the receiver leaves.
  void hold(const plan::Move& move, const plan::Step& step);
  void deliver_held(int rank, const plan::Step* step);
  void overwrite(std::byte* destination);
  /// Changes the bytes behind the buffer that the range lies in.
  void overrun(const plan::Range& range);
  [[nodiscard]] std::int64_t element_bytes(int rank) const {
    return plan_->arithmetic[spec::to_size(rank)].element_bytes();
  }
  [[nodiscard]] std::byte* address(const plan::Range& range) const;
  [[nodiscard]] const std::byte* address_on_entry(const plan::Range& range) const;

  // The current run.
  const plan::Plan* plan_ = nullptr;
  std::span<const RankBuffers> buffers_;

  plan::Scheduler scheduler_;
  plan::Monitor monitor_;
  Report report_;
  /// bases_[rank][buffer] is a base address; memory_ has the same memory in the monitor's form.
  std::vector<std::array<std::byte*, 3>> bases_;
  std::vector<plan::RankMemory> memory_;
  std::vector<Source> sources_;

  /// The size of each rank's scratch in bytes, and the scratch itself.
  std::vector<std::int64_t> scratch_bytes_;
  Arena arena_;

  // Faults.
  std::optional<Fault> fault_;
  std::int64_t candidates_ = 0;
  /// The data that the affected step would have written.
  std::vector<std::byte> payload_;
  /// The step that is still to be delivered, or null.
  const plan::Step* held_ = nullptr;
  /// The event that tells the receiver of the step `held_`.
  std::int32_t announced_by_ = -1;
  /// Whether the receiver took the message for delivered.
  bool receiver_went_on_ = false;
  /// Copies of all memory at entry, for stale messages.
  std::vector<std::byte> snapshot_;
  std::vector<std::array<std::size_t, 3>> snapshot_at_;
};

}  // namespace rankcheck::gpu::sim
