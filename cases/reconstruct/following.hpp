#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/device/cluster.hpp"

#include "cases/reconstruct/reconstruction.hpp"

/// Those who follow a reconstruction.
namespace rankcheck::cases::reconstruct {

/// How long the rest of a course takes, by what was made of it: iterations and checks each at their
/// own price. All times are in seconds.
class Pace {
 public:
  /// `done` iterations were made by an earlier run.
  Pace(const Course& course, int batches, std::int64_t done)
      : course_(course), batches_(batches), first_(done) {}

  /// A check took so long.
  void checked(double seconds);
  /// An iteration without its checks, where the last one ended `elapsed` after the first one began.
  [[nodiscard]] double each(std::int64_t iteration, double elapsed) const;
  /// What is left then; without checks as long as nobody knows how long they take.
  [[nodiscard]] double left(std::int64_t iteration, double elapsed) const;
  [[nodiscard]] bool knows_checks() const { return checks_ > 0; }
  [[nodiscard]] std::int64_t checks_to_come(std::int64_t iteration) const;

 private:
  Course course_;
  int batches_;
  std::int64_t first_;
  double checks_ = 0;
  double checks_s_ = 0;
};

/// Tells how a reconstruction goes, on standard output: on a terminal one line that is rewritten,
/// elsewhere one each.
class Progress {
 public:
  Progress(bool is_terminal, std::int64_t iterations, const Pace& pace)
      : is_terminal_(is_terminal), iterations_(iterations), pace_(pace) {}

  /// An iteration has ended.
  void iterated(std::int64_t iteration, double cost) const;
  /// A step is about to be repeated in the reference, which may take long.
  void checking(std::int64_t step);
  /// A step was checked.
  void checked(std::int64_t step, const StepCheck& check);
  /// Takes the line away.
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

/// What the checks of steps came to.
class Checks {
 public:
  void add(const StepCheck& check);
  /// Follower::unequal(); the first one stays.
  void add_unequal(std::int64_t step, const std::string& copy);

  /// What is wrong, in one line; empty where nothing is. Where checks were wanted, none that
  /// compared anything is wrong, too.
  [[nodiscard]] std::string complaint(bool were_wanted) const;

 private:
  std::string unequal_;
  bool is_falsified_ = false;
  bool has_power_ = false;
};

/// Lets all processes of a cluster know whether one of them has something to say.
class Agreement {
 public:
  /// `cluster` has to outlive it.
  explicit Agreement(gpu::Cluster& cluster);

  /// Whether any process says so; all ask together.
  [[nodiscard]] bool any(bool mine);

 private:
  gpu::Cluster& cluster_;
  std::vector<std::byte*> flags_;
};

}  // namespace rankcheck::cases::reconstruct
