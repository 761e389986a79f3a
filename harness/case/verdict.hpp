#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reference/spec/to_size.hpp"

namespace rankcheck::harness {

/// The result of a check. Only `passed` is green.
enum class Verdict : std::uint8_t {
  passed,
  falsified,
  /// A failure that occurs in only k of n replays.
  flaky,
  hung,
  crashed,
  /// The check could show nothing: nothing was compared, or required coverage is missing.
  vacuous,
  skipped,
  /// The harness or the environment failed.
  errored,
};

/// The verdicts' names, in the order of the enumerators.
inline constexpr std::array<std::string_view, 8> verdict_names{
    "passed", "falsified", "flaky", "hung", "crashed", "vacuous", "skipped", "errored"};

[[nodiscard]] constexpr std::string_view name(Verdict verdict) {
  return verdict_names[spec::to_size(verdict)];
}

/// Whether the subject failed.
[[nodiscard]] bool is_failure(Verdict verdict);

/// Whether a run with such a finding exits with 1: the subject failed, or the check had no power.
[[nodiscard]] inline bool is_red(Verdict verdict) {
  return is_failure(verdict) || verdict == Verdict::vacuous;
}

/// Why a check was not made, from a closed list. A finding's reason is only this name.
enum class SkipReason : std::uint8_t {
  /// A backend of the suite cannot run on this machine.
  backend_unavailable,
  /// The backend is available, but there are not enough devices.
  no_device,
  /// A data file that the check needs is missing.
  data_absent,
  /// The implementation takes none of the check's cases.
  not_supported,
  /// The time was over before the check had covered everything required. The run ends with status
  /// 2.
  time_over,
  /// The memory that is available is not enough for the check's cases.
  no_memory,
  /// The run was interrupted before the check had covered everything required.
  interrupted,
};

inline constexpr std::array<std::string_view, 7> skip_reason_names{"backend_unavailable",
                                                                   "no_device",
                                                                   "data_absent",
                                                                   "not_supported",
                                                                   "time_over",
                                                                   "no_memory",
                                                                   "interrupted"};

[[nodiscard]] constexpr std::string_view name(SkipReason reason) {
  return skip_reason_names[spec::to_size(reason)];
}

/// How a falsified subject failed. It distinguishes defects with the same verdict.
enum class Symptom : std::uint8_t {
  /// Nothing failed, or the run hung or crashed.
  none,
  /// An output has a wrong value.
  value,
  /// The implementation reported an error.
  error,
  /// Memory outside the outputs was written.
  outside,
  /// A step reaches beyond its buffers, or reads memory that was never written.
  memory,
  /// Two unordered steps touch the same memory.
  race,
  /// The machine cannot interpret the plan.
  malformed,
  /// A rank left before all ranks had entered.
  stamps,
  /// Another algorithm ran than the requested one, or nobody saw the requested one run.
  path,
  /// What ran before the case ended badly when it had already given its results. The case was not
  /// run.
  from_before,
};

/// The symptoms' names, in the order of the enumerators.
inline constexpr std::array<std::string_view, 10> symptom_names{"none",
                                                                "value",
                                                                "error",
                                                                "outside",
                                                                "memory",
                                                                "race",
                                                                "malformed",
                                                                "stamps",
                                                                "path",
                                                                "from_before"};

[[nodiscard]] constexpr std::string_view name(Symptom symptom) {
  return symptom_names[spec::to_size(symptom)];
}

/// Whether a failure with this symptom says nothing about the case: what was to be tested did not
/// run. So no known defect explains it.
[[nodiscard]] inline bool says_nothing_of_case(Symptom symptom) {
  return symptom == Symptom::path || symptom == Symptom::from_before;
}

/// One wrong element of one rank's output.
struct WrongElement {
  /// Rank within the group, and index of the element in its recv buffer.
  int rank = 0;
  std::int64_t index = 0;
  /// Both as text for people: values or a formula. Values that only differ in bits have their bits
  /// behind them.
  std::string expected;
  std::string got;
  double error = 0;
  double bound = 0;
  /// What a coded input says about the origin of the value, or not_written. May be empty.
  std::string decoded = {};
  /// The stage of the property's program, and the world ranks of its group. The first stage, 0, has
  /// the group of the case, so that its group is left empty.
  std::size_t stage = 0;
  std::vector<int> group = {};
  /// What has the expected value, if that is another result of the code under test: rank_0 or
  /// first_call. Otherwise empty.
  std::string compared_with = {};

  friend bool operator==(const WrongElement&, const WrongElement&) = default;
};

/// WrongElement::decoded of an element that holds what it held before the call.
inline constexpr const char* not_written = "not written";
/// What is decoded of moved data that no rank had as input, unless the element was not written.
inline constexpr const char* no_input = "no input of any rank";

/// What is decoded of special values of which nothing else is known.
inline constexpr const char* nan_dropped = "a NaN was dropped";
inline constexpr const char* subnormal_flushed = "a subnormal number became 0";

/// WrongElement::compared_with.
inline constexpr const char* rank_0 = "rank 0";
inline constexpr const char* first_call = "the first call";

/// A judgement lists at most this many wrong elements.
inline constexpr std::size_t wrong_elements_max = 8;

/// What became of one element of an output.
enum class Mark : char {
  right = '.',
  wrong = 'x',
  /// A rank's contribution is missing.
  missing = 'm',
  /// The element holds what it held before the call.
  unwritten = 'u',
  /// Nobody looked.
  unknown = '?',
  /// No element of the output: a gap.
  gap = ' ',
};

/// A picture of marks has at most this many ranks, and this many elements of each rank.
inline constexpr std::size_t marked_ranks_max = 16;
inline constexpr std::size_t marked_elements_max = 64;

/// Whether a picture of marks has this element of a rank.
[[nodiscard]] constexpr bool has_mark(int rank, std::int64_t index) {
  return static_cast<std::size_t>(rank) < marked_ranks_max &&
         static_cast<std::size_t>(index) < marked_elements_max;
}

/// Values of an output of an operator, as far as a picture needs them. Complex numbers are shown by
/// their magnitudes; `error` is the distance of the two numbers.
struct ValueWindow {
  /// The name of the output. Empty if there is no window.
  std::string output;
  /// Index of the first value in the output, and the number of values in a row of the picture.
  std::int64_t first = 0;
  std::int64_t columns = 0;
  std::vector<double> expected;
  std::vector<double> got;
  std::vector<double> error;

  friend bool operator==(const ValueWindow&, const ValueWindow&) = default;
};

/// A window has at most this many values.
inline constexpr std::size_t window_values_max = 256;

/// What the bounds of a check could detect. A bound is useful if it is less than `useful_share` of
/// the largest magnitude expected in the same output. A change of this size would be found.
struct Power {
  /// Number of judged elements, and number of these with a useful bound.
  std::int64_t elements = 0;
  std::int64_t useful = 0;
  /// For each output, the smallest change that would have been found, as a share of the output's
  /// largest magnitude. This is the largest of these over all outputs.
  double smallest_change = 0;
  /// Number of elements that may be NaN or any of the inputs, because an input is NaN and the
  /// backend's rule for NaN is unspecified. They are hardly compared.
  std::int64_t any_input = 0;

  void add(const Power& other) {
    elements += other.elements;
    useful += other.useful;
    any_input += other.any_input;
    smallest_change = std::max(smallest_change, other.smallest_change);
  }

  friend bool operator==(const Power&, const Power&) = default;
};

inline constexpr double useful_share = 0.1;

/// Measures the power of one output: first add all of its elements, then call power().
class PowerMeter {
 public:
  /// Adds elements of which every wrong bit is found.
  void add_exact(std::int64_t elements) { exact_ += elements; }
  /// Adds one element with its bound. A bound that is not finite is not useful.
  void add(double magnitude, double bound) {
    raise(magnitude);
    bounds_.push_back(bound);
  }
  /// For an output that should be nearly zero: `magnitude` is how large it would be if it were
  /// wrong.
  void raise(double magnitude) {
    if (std::isfinite(magnitude)) largest_ = std::max(largest_, magnitude);
  }
  [[nodiscard]] Power power() const;

 private:
  std::int64_t exact_ = 0;
  std::vector<double> bounds_;
  double largest_ = 0;
};

/// The results of the checks of one case so far.
struct Judgement {
  Verdict verdict = Verdict::passed;
  /// One line about the first check that failed.
  std::string reason;
  Symptom symptom = Symptom::none;
  std::int64_t compared_bytes = 0;
  /// Whether anything was compared for each rank. For ranks beyond the end, nothing was compared.
  std::vector<bool> compared_ranks;
  std::int64_t wrong_count = 0;
  /// The largest error/bound of right elements; 0 if they were all exact.
  double ratio_max = 0;
  Power power;
  /// The first output in which no element had a useful bound. Empty if there is none.
  std::string blind_output;
  /// The first wrong elements.
  std::vector<WrongElement> wrong;
  /// What became of the first elements of the first ranks: a string of Mark for each rank. Empty if
  /// nothing is wrong or no picture can be made.
  std::vector<std::string> marks;
  /// The values around the first wrong element of an operator.
  ValueWindow values;

  /// Marks an element of a rank. Elements beyond the picture are left out.
  void mark(int rank, std::int64_t index, Mark what) {
    const auto row = spec::to_size(rank);
    const auto column = spec::to_size(index);
    if (!has_mark(rank, index)) return;
    if (marks.size() <= row) marks.resize(row + 1);
    if (marks[row].size() <= column) marks[row].resize(column + 1, static_cast<char>(Mark::right));
    marks[row][column] = static_cast<char>(what);
  }
  /// Counts bytes of a rank's output that were compared in a way that could have failed.
  void count(int rank, std::int64_t bytes) {
    if (bytes == 0) return;
    compared_bytes += bytes;
    const auto at = spec::to_size(rank);
    if (compared_ranks.size() <= at) compared_ranks.resize(at + 1);
    compared_ranks[at] = true;
  }
  /// Counts bytes that were compared of the outputs of all ranks together.
  void count_all(int ranks, std::int64_t bytes) {
    if (bytes == 0) return;
    compared_bytes += bytes;
    compared_ranks.assign(spec::to_size(ranks), true);
  }
  [[nodiscard]] bool has_compared(int rank) const {
    const auto at = spec::to_size(rank);
    return at < compared_ranks.size() && compared_ranks[at];
  }

  /// Adds the power of one output.
  void see(const PowerMeter& meter, std::string_view output) {
    const Power seen = meter.power();
    power.add(seen);
    if (seen.elements > 0 && seen.useful == 0 && blind_output.empty()) blind_output = output;
  }
  /// Adds the power of an output that is a single number.
  void see(double magnitude, double bound, std::string_view output) {
    PowerMeter meter;
    meter.add(magnitude, bound);
    see(meter, output);
  }

  /// Records a failure; only the first failure is kept.
  void fail(Verdict kind, std::string why, Symptom how = Symptom::value) {
    if (verdict != Verdict::passed) return;
    verdict = kind;
    reason = std::move(why);
    symptom = how;
  }
};

}  // namespace rankcheck::harness
