#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/plan/plan.hpp"
#include "gpu/plan/random.hpp"

namespace rankcheck::gpu::plan {

/// In which order the ranks take their steps; a value of the case.
struct Schedule {
  /// `in_order`: one rank goes as far as it can, then the lowest that can go on. `random`: any
  /// rank, every step. `pct`: random priorities and a few random points at which the leader falls
  /// behind.
  enum class Policy : std::uint8_t { in_order, random, pct };
  Policy policy = Policy::in_order;
  std::uint64_t seed = 0;
};

/// `in_order`, `random:7`, `pct:9`.
[[nodiscard]] std::string to_text(const Schedule& schedule);
/// Empty when the text is not a schedule.
[[nodiscard]] std::optional<Schedule> parse_schedule(std::string_view text);

/// What one rank does next: a step of its program, or entering or leaving the call.
struct Move {
  static constexpr std::int32_t entry = -1;

  std::int32_t rank = 0;
  /// Index into the rank's program; `entry`, or the program's size for leaving.
  std::int32_t step = entry;
};

/// Walks through a plan, one move at a time, never past a wait whose event has not happened.
class Scheduler {
 public:
  /// Starts a walk; the plan must outlive it and name no event that it does not have.
  void begin(const Plan& plan, const Schedule& schedule);
  /// The next move; empty when every rank has left or nobody can go on.
  [[nodiscard]] std::optional<Move> next();
  /// The rank takes no step any more, the one just handed out included (its signal is void).
  void stop(const Move& move);
  [[nodiscard]] bool finished() const { return left_ == plan_->ranks(); }
  /// What the rank would do next.
  [[nodiscard]] Move position(int rank) const {
    return {rank, steps_[static_cast<std::size_t>(rank)]};
  }
  [[nodiscard]] bool has_happened(Event event) const {
    return happened_[static_cast<std::size_t>(event.id)] != 0;
  }

 private:
  static constexpr int change_points = 3;

  void begin_pct();
  [[nodiscard]] std::size_t choose();
  [[nodiscard]] std::size_t choose_pct();
  /// Makes what a move brings about visible: its event, and whether its rank can go on.
  void settle();
  void happen(std::int32_t event);

  const Plan* plan_ = nullptr;
  Schedule schedule_;
  Random random_{0};
  /// The next step of each rank.
  std::vector<std::int32_t> steps_;
  std::vector<std::int32_t> ready_;
  std::vector<std::uint8_t> happened_;
  /// Lists of the ranks that wait for an event: first_waiter_[event], next_waiter_[rank]; -1 ends.
  std::vector<std::int32_t> first_waiter_;
  std::vector<std::int32_t> next_waiter_;
  std::vector<std::int64_t> priority_;
  std::vector<std::int64_t> change_at_;
  /// The move handed out last and where its rank stands in ready_; it takes effect in `settle`.
  std::optional<Move> current_;
  std::size_t current_slot_ = 0;
  std::int64_t moves_ = 0;
  int left_ = 0;
};

}  // namespace rankcheck::gpu::plan
