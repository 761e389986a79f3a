#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankcheck::harness {

/// What a check came to. Only `passed` is green.
enum class Verdict : std::uint8_t {
  passed,
  falsified,
  /// A failure that replays k of n times.
  flaky,
  hung,
  crashed,
  /// The check had no power: nothing was compared, or required coverage is missing.
  vacuous,
  skipped,
  /// The harness or the environment failed.
  errored,
};

/// The verdicts' names, in the order of the enumerators.
inline constexpr std::array<std::string_view, 8> verdict_names{
    "passed", "falsified", "flaky", "hung", "crashed", "vacuous", "skipped", "errored"};

[[nodiscard]] std::string_view name(Verdict verdict);
/// Empty when no verdict has that name.
[[nodiscard]] std::optional<Verdict> verdict_named(std::string_view name);

/// Whether a run with such a finding exits with 1: the subject, or the power of a check, failed.
[[nodiscard]] bool is_red(Verdict verdict);

/// Why a check was not made: the closed list. A finding's reason is the name alone.
enum class SkipReason : std::uint8_t {
  /// The backend that a suite lists cannot run on this machine.
  backend_unavailable,
  /// The backend is there, but not enough devices.
  no_device,
  /// A data file that the check needs is not there.
  data_absent,
  /// The implementation takes none of the cases that the check would make.
  not_supported,
  /// The run's time was over before the check had covered what it must. The run ends with status 2.
  time_over,
};

inline constexpr std::array<std::string_view, 5> skip_reason_names{
    "backend_unavailable", "no_device", "data_absent", "not_supported", "time_over"};

[[nodiscard]] std::string_view name(SkipReason reason);

/// How a falsified subject shows: sets defects of that one verdict apart.
enum class Symptom : std::uint8_t {
  /// Nothing failed, or nobody says how.
  none,
  /// An output is not what it should be.
  value,
  /// Memory was written that is no part of an output.
  contract,
  /// A step reaches beyond its buffers, or reads what nobody wrote.
  memory,
  /// Two steps touch the same memory in no order.
  race,
  /// A plan that makes no sense to the machine.
  malformed,
  /// Another algorithm ran than was asked for.
  path,
  /// A rank left before others had entered.
  stamps,
};

/// One wrong element of one rank's output.
struct WrongElement {
  /// Rank within the group and element within its recv buffer.
  int rank = 0;
  std::int64_t index = 0;
  std::string expected;
  std::string got;
  double error = 0;
  double bound = 0;
  /// What a coded input says about the origin of the value; may be empty.
  std::string decoded;

  friend bool operator==(const WrongElement&, const WrongElement&) = default;
};

/// A judgement lists at most this many wrong elements.
inline constexpr std::size_t wrong_elements_max = 8;

/// What the bounds of a check could see. A bound is useful where it is under `useful_share` of the
/// largest magnitude that the same output should have: a change of that size would be found.
struct Power {
  /// Elements that were judged, and those of them with a useful bound.
  std::int64_t elements = 0;
  std::int64_t useful = 0;
  /// The smallest change that would have been found in each output, as a share of the largest
  /// magnitude there; the largest of all outputs.
  double smallest_change = 0;

  void add(const Power& other) {
    elements += other.elements;
    useful += other.useful;
    smallest_change = std::max(smallest_change, other.smallest_change);
  }

  friend bool operator==(const Power&, const Power&) = default;
};

inline constexpr double useful_share = 0.1;

/// Measures the power of one output: first takes all of its elements, then says what they come to.
class PowerMeter {
 public:
  /// Elements of which every wrong bit is found.
  void add_exact(std::int64_t elements) { exact_ += elements; }
  /// One element and its bound; a bound that is not finite says nothing.
  void add(double magnitude, double bound) {
    raise(magnitude);
    bounds_.push_back(bound);
  }
  /// Where the output should be nearly nothing: how large it would be if it were wrong.
  void raise(double magnitude) {
    if (std::isfinite(magnitude)) largest_ = std::max(largest_, magnitude);
  }
  [[nodiscard]] Power power() const;

 private:
  std::int64_t exact_ = 0;
  std::vector<double> bounds_;
  double largest_ = 0;
};

/// What the checks of one case found so far.
struct Judgement {
  Verdict verdict = Verdict::passed;
  /// One line; of the first check that failed.
  std::string reason;
  Symptom symptom = Symptom::none;
  std::int64_t compared_bytes = 0;
  /// Whether anything of a rank's was compared; ranks behind the end had nothing.
  std::vector<bool> compared_ranks;
  std::int64_t wrong_count = 0;
  /// The largest error/bound seen; 0 where everything was exact.
  double ratio_max = 0;
  Power power;
  /// The first output of which no element had a useful bound; empty where there is none.
  std::string blind_output;
  /// The first wrong elements.
  std::vector<WrongElement> wrong;

  /// Counts what was compared of a rank's output, in a way that could have failed.
  void count(int rank, std::int64_t bytes) {
    if (bytes == 0) return;
    compared_bytes += bytes;
    const auto at = static_cast<std::size_t>(rank);
    if (compared_ranks.size() <= at) compared_ranks.resize(at + 1);
    compared_ranks[at] = true;
  }
  /// Counts what was compared of the outputs of all ranks together.
  void count_all(int ranks, std::int64_t bytes) {
    if (bytes == 0) return;
    compared_bytes += bytes;
    compared_ranks.assign(static_cast<std::size_t>(ranks), true);
  }
  [[nodiscard]] bool has_compared(int rank) const {
    const auto at = static_cast<std::size_t>(rank);
    return at < compared_ranks.size() && compared_ranks[at];
  }

  /// Counts what the bounds of one output could see.
  void see(const PowerMeter& meter, std::string_view output) {
    const Power seen = meter.power();
    power.add(seen);
    if (seen.elements > 0 && seen.useful == 0 && blind_output.empty()) blind_output = output;
  }
  /// The same of an output that is one number.
  void see(double magnitude, double bound, std::string_view output) {
    PowerMeter meter;
    meter.add(magnitude, bound);
    see(meter, output);
  }

  /// Keeps the first failure.
  void fail(Verdict kind, std::string why, Symptom how = Symptom::value) {
    if (verdict != Verdict::passed) return;
    verdict = kind;
    reason = std::move(why);
    symptom = how;
  }
};

}  // namespace rankcheck::harness
