#include "harness/run/progress.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "harness/base/table.hpp"

namespace rankcheck::harness::run {

namespace {

/// How often the line is printed if there is no terminal, such as in the log of a CI system.
constexpr auto print_interval = std::chrono::seconds(10);

}  // namespace

Progress::Progress(const Options& options)
    : options_(options),
      is_terminal_(::isatty(STDOUT_FILENO) == 1),
      style_(TextStyle::for_output(STDOUT_FILENO)),
      start_(Clock::now()),
      printed_(start_) {}

void Progress::begin_round(std::size_t units, std::size_t units_done, std::int64_t cases) {
  planned_units_ = units;
  units_done_ = units_done;
  planned_cases_ = cases;
}

void Progress::show(const Finding& finding) {
  ++units_done_;
  settled_cases_ += finding.unit.cases;
  // In a run of several rounds, a later round may cover what this one did not.
  const bool may_grow = options_.rounds_end && lacks_coverage(finding);
  if (options_.is_quiet || may_grow || !is_bad(finding)) return;
  // One fault of a program errors all of its units. The end of the run counts them.
  if (finding.verdict == Verdict::errored &&
      !errors_.emplace(finding.unit.backend, finding.reason).second) {
    return;
  }
  clear();
  const std::string verdict = fmt::format("{:<9}", name(finding.verdict));
  const std::size_t room = text_columns_max - verdict.size() - 1;
  constexpr std::size_t reason_bytes_max = 300;
  const std::string id = printable(finding.unit.id());
  const std::string reason = shortened(finding.reason, reason_bytes_max);
  const std::string indentation(verdict.size() + 1, ' ');
  // A reason that does not fit behind the name stands below it.
  const bool fits = id.size() + 2 + reason.size() <= room;
  fmt::print("{} {}{}{}\n",
             style_.paint(finding.verdict, verdict),
             id,
             fits ? "  " : '\n' + indentation,
             wrapped(reason, room, indentation.size()));
  std::fflush(stdout);
}

void Progress::end_round(int round, const Tally& total) {
  if (options_.is_quiet) return;
  clear();
  fmt::print("round {}: {} cases so far, {} of {} cells covered\n",
             round + 1,
             grouped(total.cases),
             grouped(total.covered_cells),
             grouped(total.required_cells));
  std::fflush(stdout);
}

std::optional<double> Progress::seconds_left(double elapsed) const {
  if (options_.rounds_end) {
    const std::chrono::duration<double> left = *options_.rounds_end - Clock::now();
    return std::max(left.count(), 0.0);
  }
  if (settled_cases_ == 0) return std::nullopt;
  const auto left = static_cast<double>(std::max<std::int64_t>(planned_cases_ - settled_cases_, 0));
  return elapsed * left / static_cast<double>(settled_cases_);
}

std::string Progress::line() const {
  const std::chrono::duration<double> since = Clock::now() - start_;
  const double elapsed = std::max(since.count(), 1e-3);
  const auto left = seconds_left(elapsed);
  const int shrinking = failures_shrinking_.load();
  return fmt::format(
      "{}/{} units, {} cases, {:.0f} cases/s, {}{}",
      units_done_,
      planned_units_,
      grouped(cases_done_.load()),
      static_cast<double>(cases_done_.load()) / elapsed,
      left ? time_text(*left) + " left" : "...",
      shrinking == 0 ? "" : "; shrinking " + counted(shrinking, "failure", "failures"));
}

void Progress::tick() {
  if (options_.is_quiet) return;
  const Clock::time_point now = Clock::now();
  if (!is_terminal_ && now - printed_ < print_interval) return;
  printed_ = now;
  fmt::print("{}{}{}", is_terminal_ ? "\r\x1b[K" : "", line(), is_terminal_ ? "" : "\n");
  std::fflush(stdout);
}

void Progress::clear() {
  if (is_terminal_ && !options_.is_quiet) fmt::print("\r\x1b[K");
}

std::string time_text(double seconds) {
  constexpr double minute_s = 60;
  constexpr double hour_s = 60 * minute_s;
  if (seconds < 1.5 * minute_s) return fmt::format("{:.0f} s", seconds);
  if (seconds < 1.5 * hour_s) return fmt::format("{:.0f} min", seconds / minute_s);
  return fmt::format("{:.1f} h", seconds / hour_s);
}

}  // namespace rankcheck::harness::run
