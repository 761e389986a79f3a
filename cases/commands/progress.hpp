#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "harness/finding.hpp"
#include "harness/summary.hpp"

namespace rankcheck::cases {

/// Tells people how a run goes: on a terminal one line that is rewritten, elsewhere a plain line
/// for every finding, or for every round of a run that repeats itself. Failures are told in full on
/// all.
class Progress {
 public:
  /// `program` is how the user called rankcheck. `rounds_end`: when a run that repeats itself ends;
  /// none where it has one round.
  Progress(std::string program, std::optional<std::chrono::steady_clock::time_point> rounds_end);

  /// Counts every case that was judged.
  [[nodiscard]] std::atomic<std::int64_t>& cases_done() { return cases_done_; }

  /// A round of so many units begins, of which some are done already; `cases` are those of the
  /// rest.
  void begin_round(std::size_t units, std::size_t units_done, std::int64_t cases);
  void show(const harness::Finding& finding);
  /// Tells what the rounds came to so far.
  void end_round(int round, const harness::Tally& total);
  /// How far the run is and how long it still takes.
  [[nodiscard]] std::string line() const;
  /// Rewrites the line on a terminal.
  void tick();
  /// Takes the line away.
  void clear();

 private:
  /// None where nothing tells.
  [[nodiscard]] std::optional<double> seconds_left(double elapsed) const;

  std::string program_;
  bool is_terminal_;
  std::optional<std::chrono::steady_clock::time_point> rounds_end_;
  std::int64_t planned_cases_ = 0;
  std::size_t planned_units_ = 0;
  std::size_t units_done_ = 0;
  /// Cases that the finished units were to have, whether they ran them or not.
  std::int64_t settled_cases_ = 0;
  std::atomic<std::int64_t> cases_done_{0};
  std::chrono::steady_clock::time_point start_;
};

}  // namespace rankcheck::cases
