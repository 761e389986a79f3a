#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "harness/base/run_clock.hpp"
#include "harness/check/finding.hpp"
#include "harness/report/summary.hpp"
#include "harness/report/text_style.hpp"

namespace rankcheck::harness::run {

/// Shows how a run proceeds. On a terminal it rewrites one line. Elsewhere it prints a line now and
/// then, and for every round of a run that repeats itself. A failure gets a line when it is found;
/// the end of the run explains it. Of the units of a backend that errored alike, only the first
/// gets a line.
class Progress {
 public:
  using Clock = RunClock;

  struct Options {
    /// The time at which a run that repeats itself ends, or none for a run of one round.
    std::optional<Clock::time_point> rounds_end = {};
    /// Prints nothing.
    bool is_quiet = false;
  };

  explicit Progress(const Options& options);

  /// The counter of all cases that were judged. Other threads may increase it.
  [[nodiscard]] std::atomic<std::int64_t>& cases_done() { return cases_done_; }

  /// The number of failures that are shrunk or replayed now. Other threads may change it.
  [[nodiscard]] std::atomic<int>& failures_shrinking() { return failures_shrinking_; }

  /// Begins a round of `units` units, of which `units_done` are already done. `cases` counts the
  /// cases of the remaining units.
  void begin_round(std::size_t units, std::size_t units_done, std::int64_t cases);
  void show(const Finding& finding);
  /// Prints the totals of all rounds so far.
  void end_round(int round, const Tally& total);
  /// Returns the state of the run in one line, with the estimated time left.
  [[nodiscard]] std::string line() const;
  /// Rewrites the line on a terminal. Elsewhere prints it if the last one is some time ago.
  void tick();
  /// Removes the line on a terminal.
  void clear();

 private:
  /// Returns nothing if there is no basis for an estimate.
  [[nodiscard]] std::optional<double> seconds_left(double elapsed) const;

  Options options_;
  bool is_terminal_;
  TextStyle style_;
  std::int64_t planned_cases_ = 0;
  std::size_t planned_units_ = 0;
  std::size_t units_done_ = 0;
  /// Planned cases of the finished units, whether the units ran all of them or not.
  std::int64_t settled_cases_ = 0;
  std::atomic<std::int64_t> cases_done_{0};
  std::atomic<int> failures_shrinking_{0};
  /// The backends and reasons of the errored units that were shown.
  std::set<std::pair<std::string, std::string>> errors_;
  Clock::time_point start_;
  /// When the line was printed last.
  Clock::time_point printed_;
};

/// "8 s", "3 min" or "2.5 h": a time, rounded.
[[nodiscard]] std::string time_text(double seconds);

}  // namespace rankcheck::harness::run
