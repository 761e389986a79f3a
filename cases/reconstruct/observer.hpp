#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/device/cluster.hpp"

#include "cases/reconstruct/reconstruction.hpp"

/// Observers of a reconstruction.
namespace rankcheck::cases::reconstruct {

/// Estimates how long the rest of a reconstruction takes, from the iterations and checks made so
/// far. Iterations and checks have their own times. All times are in seconds.
class Pace {
 public:
  /// `done`: iterations that an earlier run made.
  Pace(const StepBudget& budget, int batches, std::int64_t done)
      : budget_(budget), batches_(batches), first_(done) {}

  /// Notes that a check took `seconds`.
  void checked(double seconds);
  /// Returns the seconds of one iteration without its checks. `elapsed` is the time from the start
  /// of the first iteration of this run to the end of iteration number `iteration`.
  [[nodiscard]] double each(std::int64_t iteration, double elapsed) const;
  /// Returns the seconds left. Checks are not included until the first one was timed.
  [[nodiscard]] double left(std::int64_t iteration, double elapsed) const;
  [[nodiscard]] bool knows_checks() const { return checks_ > 0; }
  [[nodiscard]] std::int64_t checks_to_come(std::int64_t iteration) const;

 private:
  StepBudget budget_;
  int batches_;
  std::int64_t first_;
  double checks_ = 0;
  double checks_s_ = 0;
};

/// Shows on standard output how a reconstruction proceeds. On a terminal it rewrites one line;
/// elsewhere it prints a line each time.
class Progress {
 public:
  Progress(bool is_terminal, std::int64_t iterations, const Pace& pace)
      : is_terminal_(is_terminal), iterations_(iterations), pace_(pace) {}

  /// Called after an iteration.
  void iterated(std::int64_t iteration, double cost) const;
  /// Called before a step is repeated in the reference, which may take long.
  void checking(std::int64_t step);
  /// Called after a step was checked.
  void checked(std::int64_t step, const StepCheck& check);
  /// Removes the line on a terminal.
  void clear() const;

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] const char* clearing() const { return is_terminal_ ? "\r\x1b[K" : ""; }

  bool is_terminal_;
  std::int64_t iterations_;
  Pace pace_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point check_start_ = {};
  /// Seconds of the last check; 0 before the first one.
  double check_s_ = 0;
};

/// Collects the results of the checks of steps.
class Checks {
 public:
  void add(const StepCheck& check);
  /// Takes the arguments of Observer::unequal(). Only the first call counts.
  void add_unequal(std::int64_t step, const std::string& copy);

  /// Returns in one line what is wrong; empty if nothing is wrong. If checks were wanted and none
  /// compared anything, that is wrong, too.
  [[nodiscard]] std::string complaint(bool were_wanted) const;

 private:
  std::string unequal_;
  bool is_falsified_ = false;
  bool has_power_ = false;
};

/// Lets all processes of a cluster know whether any of them has set a flag.
class AnyProcess {
 public:
  /// `cluster` must outlive this object.
  explicit AnyProcess(gpu::Cluster& cluster);

  /// Returns whether `mine` is true on any process. All processes must call this together.
  [[nodiscard]] bool says(bool mine);

 private:
  gpu::Cluster& cluster_;
  std::vector<std::byte*> flags_;
};

}  // namespace rankcheck::cases::reconstruct
