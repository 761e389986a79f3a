#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/spec/to_size.hpp"

#include "gpu/plan/plan.hpp"
#include "gpu/plan/random.hpp"

namespace rankcheck::gpu::plan {

/// The order in which the ranks take their steps. It is part of the case.
struct Schedule {
  /// - `in_order`: one rank goes as far as it can, then the lowest rank that can go on.
  /// - `random`: before every step, a rank is drawn at random.
  /// - `pct`: ranks have random priorities. At a few random points, the leading rank gets a low
  ///   priority.
  enum class Policy : std::uint8_t { in_order, random, pct };
  Policy policy = Policy::in_order;
  std::uint64_t seed = 0;
};

/// For example `in_order`, `random:7` or `pct:9`.
[[nodiscard]] std::string to_text(const Schedule& schedule);
/// Empty if the text is not a schedule.
[[nodiscard]] std::optional<Schedule> parse_schedule(std::string_view text);

/// The next action of a rank: a step of its program, entering the call or leaving it.
struct Move {
  static constexpr std::int32_t entry = -1;

  std::int32_t rank = 0;
  /// Index into the rank's program, `entry`, or the program's size for leaving.
  std::int32_t step = entry;
};

/// Walks through a plan, one move at a time. It never passes a wait whose event has not happened.
class Scheduler {
 public:
  /// Starts a walk. The plan must outlive the walk and must name only events that it has.
  void begin(const Plan& plan, const Schedule& schedule);
  /// The next move; empty if every rank has left or no rank can go on.
  [[nodiscard]] std::optional<Move> next();
  /// The rank takes no more steps. The move that was just handed out does not count either, so its
  /// signal is not sent.
  void stop(const Move& move);
  [[nodiscard]] bool finished() const { return left_ == plan_->ranks(); }
  /// The rank's next move.
  [[nodiscard]] Move position(int rank) const { return {rank, steps_[spec::to_size(rank)]}; }
  [[nodiscard]] bool has_happened(Event event) const {
    return happened_[spec::to_size(event.id)] != 0;
  }

 private:
  static constexpr int change_points = 3;

  void begin_pct();
  /// Lets a rank enter, or holds it if it is late.
  void admit(std::int32_t rank);
  [[nodiscard]] std::size_t choose();
  [[nodiscard]] std::size_t choose_pct();
  /// Applies the last move: marks its event as happened and decides whether its rank can go on.
  void settle();
  void happen(std::int32_t event);

  const Plan* plan_ = nullptr;
  Schedule schedule_;
  Random random_{0};
  /// The next step of each rank.
  std::vector<std::int32_t> steps_;
  std::vector<std::int32_t> ready_;
  /// The late ranks that could enter, but are held until no other rank can go on.
  std::vector<std::int32_t> held_;
  /// Plan::order, sorted, and how many ranks must leave before each rank may enter.
  std::vector<std::pair<std::int32_t, std::int32_t>> order_;
  std::vector<std::int32_t> awaited_;
  std::vector<std::uint8_t> is_late_;
  std::vector<std::uint8_t> happened_;
  /// Linked lists of the ranks that wait for an event: first_waiter_[event], next_waiter_[rank]; -1
  /// ends a list.
  std::vector<std::int32_t> first_waiter_;
  std::vector<std::int32_t> next_waiter_;
  std::vector<std::int64_t> priority_;
  std::vector<std::int64_t> change_at_;
  /// The move that was handed out last, and the position of its rank in ready_. settle() applies
  /// it.
  std::optional<Move> current_;
  std::size_t current_slot_ = 0;
  std::int64_t moves_ = 0;
  int left_ = 0;
};

}  // namespace rankcheck::gpu::plan
