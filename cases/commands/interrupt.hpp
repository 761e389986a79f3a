#pragma once

#include <atomic>

namespace rankcheck::cases {

/// Makes SIGINT and SIGTERM ask for an end instead of ending the program at once; the second such
/// signal ends it at once. What hits a limit on the size of files goes on too.
class Interrupt {
 public:
  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

  /// True from the first signal on.
  [[nodiscard]] const std::atomic<bool>& requested() const;
  /// 128 + the signal's number, the exit status that shells use; 0 where none came.
  [[nodiscard]] int exit_status() const;
};

}  // namespace rankcheck::cases
