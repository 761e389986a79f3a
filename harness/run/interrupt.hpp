#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <vector>

#include "harness/base/stop.hpp"

namespace rankcheck::harness::run {

/// Makes SIGINT and SIGTERM request an end instead of ending the program at once. Another such
/// signal within a second counts as the same one. A later one ends the program at once. A write
/// beyond the file size limit becomes an error of the write.
class Interrupt {
 public:
  /// `further`: more signals that request an end. They may come any number of times without ending
  /// the program, because a launcher may forward signals that the program got itself. `clock`
  /// returns a time in nanoseconds, above 0. A signal handler calls it.
  explicit Interrupt(std::initializer_list<int> further = {},
                     std::int64_t (*clock)() = monotonic_ns);
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

  /// True from the first signal on.
  [[nodiscard]] const std::atomic<bool>& requested() const;
  /// Returns the request in the form that waits for workers take.
  [[nodiscard]] StopRequest stop() const { return {.flag = &requested()}; }
  /// Calls `work` and returns its exit status. If `work` throws Interrupted, prints the
  /// line "interrupted before `what`" and returns exit_status().
  [[nodiscard]] int status_of(const char* what, const std::function<int()>& work) const;
  /// Returns 128 + the first signal's number, the exit status that shells use. Returns 0 if no
  /// signal came.
  [[nodiscard]] int exit_status() const;

  /// Returns a time above 0, because 0 means that no signal came.
  [[nodiscard]] static std::int64_t monotonic_ns();

 private:
  std::vector<int> signals_;
};

}  // namespace rankcheck::harness::run
