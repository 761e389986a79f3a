#pragma once

#include <atomic>
#include <chrono>

namespace rankcheck::harness {

/// Asks a run to end before its time. Whoever waits for something looks at it several times a
/// second.
struct StopRequest {
  /// Where given: true asks for the end. A signal handler may set it.
  const std::atomic<bool>* flag = nullptr;
  /// From then on, the end is asked for: a session that goes on later runs the rest.
  std::chrono::steady_clock::time_point pause = std::chrono::steady_clock::time_point::max();

  [[nodiscard]] bool is_made() const {
    if (flag != nullptr && flag->load(std::memory_order_relaxed)) return true;
    return pause != std::chrono::steady_clock::time_point::max() &&
           std::chrono::steady_clock::now() >= pause;
  }
};

/// Thrown where an end was asked for before there was an outcome. It is no std::exception, so that
/// nobody takes it for a failure of what was under way.
struct Interrupted {};

}  // namespace rankcheck::harness
