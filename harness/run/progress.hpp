#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "harness/finding.hpp"
#include "harness/summary.hpp"

namespace rankcheck::harness::run {

/// Shows how a run proceeds. On a terminal it rewrites one line. Elsewhere it prints a plain line
/// for every finding, or for every round of a run that repeats itself. Failures are printed in full
/// everywhere.
class Progress {
 public:
  /// `program` is how the user called rankcheck. `rounds_end` is the time at which a run that
  /// repeats itself ends, or none for a run of one round.
  Progress(std::string program, std::optional<std::chrono::steady_clock::time_point> rounds_end);

  /// The counter of all cases that were judged. Other threads may increase it.
  [[nodiscard]] std::atomic<std::int64_t>& cases_done() { return cases_done_; }

  /// Begins a round of `units` units, of which `units_done` are already done. `cases` counts the
  /// cases of the remaining units.
  void begin_round(std::size_t units, std::size_t units_done, std::int64_t cases);
  void show(const Finding& finding);
  /// Prints the totals of all rounds so far.
  void end_round(int round, const Tally& total);
  /// Returns the state of the run in one line, with the estimated time left.
  [[nodiscard]] std::string line() const;
  /// Rewrites the line on a terminal.
  void tick();
  /// Removes the line on a terminal.
  void clear();

 private:
  /// Returns nothing if there is no basis for an estimate.
  [[nodiscard]] std::optional<double> seconds_left(double elapsed) const;

  std::string program_;
  bool is_terminal_;
  std::optional<std::chrono::steady_clock::time_point> rounds_end_;
  std::int64_t planned_cases_ = 0;
  std::size_t planned_units_ = 0;
  std::size_t units_done_ = 0;
  /// Planned cases of the finished units, whether the units ran all of them or not.
  std::int64_t settled_cases_ = 0;
  std::atomic<std::int64_t> cases_done_{0};
  std::chrono::steady_clock::time_point start_;
};

}  // namespace rankcheck::harness::run
