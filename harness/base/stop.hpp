#pragma once

#include <atomic>
#include <chrono>

#include "harness/base/run_clock.hpp"

namespace rankcheck::harness {

/// A request to end a run early. Code that waits for something checks it several times a second.
struct StopRequest {
  /// If given: true requests the end. A signal handler may set it.
  const std::atomic<bool>* flag = nullptr;
  /// From this time on, the end is requested. A later session runs the rest.
  std::chrono::steady_clock::time_point pause = std::chrono::steady_clock::time_point::max();

  [[nodiscard]] bool is_made() const {
    if (flag != nullptr && flag->load(std::memory_order_relaxed)) return true;
    return pause != std::chrono::steady_clock::time_point::max() && RunClock::now() >= pause;
  }
};

/// Thrown if an end was requested before there was an outcome. It is not derived from
/// std::exception, so that nobody takes it for a failure of the running work.
struct Interrupted {};

}  // namespace rankcheck::harness
