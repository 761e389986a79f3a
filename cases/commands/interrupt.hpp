#pragma once

#include <atomic>
#include <functional>
#include <initializer_list>
#include <vector>

#include "harness/stop.hpp"

namespace rankcheck::cases {

/// Makes SIGINT and SIGTERM ask for an end instead of ending the program at once. Another such
/// signal within a second is the same one; a later one ends the program at once. What hits a limit
/// on the size of files goes on too.
class Interrupt {
 public:
  /// Further signals may ask for an end, too, any number of times: a launcher may pass on what the
  /// program got itself.
  explicit Interrupt(std::initializer_list<int> further = {});
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

  /// True from the first signal on.
  [[nodiscard]] const std::atomic<bool>& requested() const;
  /// For what waits for workers.
  [[nodiscard]] harness::StopRequest stop() const { return {.flag = &requested()}; }
  /// Does `work` and returns its exit status; where that throws harness::Interrupted, says so in a
  /// line, "interrupted before `what`", and returns exit_status().
  [[nodiscard]] int status_of(const char* what, const std::function<int()>& work) const;
  /// 128 + the first signal's number, the exit status that shells use; 0 where none came.
  [[nodiscard]] int exit_status() const;

 private:
  std::vector<int> signals_;
};

}  // namespace rankcheck::cases
