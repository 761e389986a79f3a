#pragma once

#include <atomic>

#include "harness/base/run_clock.hpp"

namespace rankcheck::harness {

/// While this exists, RunClock stands still unless a test moves it. There may be only one at a
/// time.
class MovedClock {
 public:
  MovedClock() {
    time_ = RunClock::time_point();
    before_ = RunClock::source.exchange([] { return time_.load(); });
  }
  MovedClock(const MovedClock&) = delete;
  MovedClock& operator=(const MovedClock&) = delete;
  ~MovedClock() { RunClock::source = before_; }

  /// Also other threads may call it.
  static void move_to(RunClock::time_point time) { time_ = time; }

 private:
  static inline std::atomic<RunClock::time_point> time_{};

  RunClock::Source before_ = nullptr;
};

}  // namespace rankcheck::harness
