#include "harness/run/progress.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "harness/report.hpp"
#include "harness/table.hpp"

namespace rankcheck::harness::run {

Progress::Progress(std::string program,
                   std::optional<std::chrono::steady_clock::time_point> rounds_end)
    : program_(std::move(program)),
      is_terminal_(::isatty(STDOUT_FILENO) == 1),
      rounds_end_(rounds_end),
      start_(std::chrono::steady_clock::now()) {}

void Progress::begin_round(std::size_t units, std::size_t units_done, std::int64_t cases) {
  planned_units_ = units;
  units_done_ = units_done;
  planned_cases_ = cases;
}

void Progress::show(const Finding& finding) {
  ++units_done_;
  settled_cases_ += finding.unit.cases;
  // In a run of several rounds, a later round may cover what this one did not.
  const bool may_grow = rounds_end_ && lacks_coverage(finding);
  const bool bad = !may_grow && (is_red(finding.verdict) || finding.verdict == Verdict::errored);
  if ((is_terminal_ || rounds_end_) && !bad) return;
  clear();
  std::string line = fmt::format("{:<9} {}", name(finding.verdict), finding.unit.id());
  if (finding.cases > 0) line += fmt::format("  {} cases", finding.cases);
  if (finding.ratio_max > 0) line += fmt::format("  error/bound {:.3g}", finding.ratio_max);
  if (!finding.reason.empty()) line += "  " + printable(finding.reason);
  fmt::print("{}\n", line);
  if (bad) fmt::print("{}", explain(finding, program_));
  std::fflush(stdout);
}

void Progress::end_round(int round, const Tally& total) {
  clear();
  fmt::print("round {}: {} cases so far, {} of {} cells covered\n",
             round + 1,
             grouped(total.cases),
             grouped(total.covered_cells),
             grouped(total.required_cells));
  std::fflush(stdout);
}

std::optional<double> Progress::seconds_left(double elapsed) const {
  if (rounds_end_) {
    const std::chrono::duration<double> left = *rounds_end_ - std::chrono::steady_clock::now();
    return std::max(left.count(), 0.0);
  }
  if (settled_cases_ == 0) return std::nullopt;
  const auto left = static_cast<double>(std::max<std::int64_t>(planned_cases_ - settled_cases_, 0));
  return elapsed * left / static_cast<double>(settled_cases_);
}

std::string Progress::line() const {
  const std::chrono::duration<double> since = std::chrono::steady_clock::now() - start_;
  const double elapsed = std::max(since.count(), 1e-3);
  const auto left = seconds_left(elapsed);
  return fmt::format("{}/{} units, {} cases, {:.0f} cases/s, {}",
                     units_done_,
                     planned_units_,
                     grouped(cases_done_.load()),
                     static_cast<double>(cases_done_.load()) / elapsed,
                     left ? fmt::format("{:.0f} s left", *left) : "...");
}

void Progress::tick() {
  if (!is_terminal_) return;
  fmt::print("\r\x1b[K{}", line());
  std::fflush(stdout);
}

void Progress::clear() {
  if (is_terminal_) fmt::print("\r\x1b[K");
}

}  // namespace rankcheck::harness::run
