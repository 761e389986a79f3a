#pragma once

#include <atomic>
#include <chrono>

namespace rankcheck::harness {

/// The clock of everything that limits the duration of a run: time budgets, pauses, and the limits
/// of shrinking and of replays. A report's duration of the whole run comes from it, too. The
/// durations of its units, and the waiting for a worker, have other clocks.
struct RunClock {
  using Steady = std::chrono::steady_clock;
  // The standard names what a clock has.
  // NOLINTBEGIN(readability-identifier-naming)
  using rep = Steady::rep;
  using period = Steady::period;
  using duration = Steady::duration;
  using time_point = Steady::time_point;
  // NOLINTEND(readability-identifier-naming)
  using Source = time_point (*)();
  static constexpr bool is_steady = true;

  [[nodiscard]] static time_point now() { return source.load(std::memory_order_relaxed)(); }

  /// Tests put a clock here that they move. Nothing else writes it.
  static inline std::atomic<Source> source{+[] { return Steady::now(); }};
};

}  // namespace rankcheck::harness
