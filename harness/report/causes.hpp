#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "harness/check/finding.hpp"

namespace rankcheck::harness {

/// What a wrong element says about its cause.
enum class Cause : std::uint8_t {
  /// Nothing is known.
  unknown,
  /// A rank's contribution is missing in a sum.
  missing,
  /// A rank's contribution is in a sum twice.
  twice,
  /// A rank's contribution to a sum is another one.
  altered,
  /// The value is another element of an input.
  moved,
  /// The value is no element of any input.
  foreign,
  /// The element still holds what memory held before the call.
  unwritten,
  /// A number is in the place of a NaN.
  nan_lost,
  /// A zero is in the place of a subnormal number.
  subnormal_lost,
};

[[nodiscard]] Cause cause_of(const Finding& finding, const WrongElement& wrong);

/// The cause of a wrong element as a sentence: "The contribution of rank 2 is missing." A place
/// such as "pixel (1, 2)" becomes "At pixel (1, 2)." Empty if nothing is known.
[[nodiscard]] std::string in_words(const Finding& finding, const WrongElement& wrong);

/// The first wrong element that says something about its cause. Null if there is none.
[[nodiscard]] const WrongElement* telling_element(const Finding& finding);

/// Findings with one cause: the same backend, verdict and cause, and the same algorithm or the same
/// unusual cell. The cause is what a wrong value says, or else the reason. Findings of several
/// operations are one group only if a value or the reason says what went wrong.
struct FailureGroup {
  /// The first is the one with the fewest ranks and the fewest elements.
  std::vector<const Finding*> findings;
  /// The cell that the minimal cases have in common, such as "uint8/max", and that plain cases do
  /// not have. Shrinking would have left it if it did not matter. Empty if there is none.
  std::string cell;
};

/// All groups of the findings that are red or errored, in the order of severity and then of names.
[[nodiscard]] std::vector<FailureGroup> group_failures(std::span<const Finding> findings);

/// All groups of the findings for which `is_shown`, in the same order.
[[nodiscard]] std::vector<FailureGroup> group_findings(std::span<const Finding> findings,
                                                       bool (*is_shown)(const Finding&));

/// What a verdict says of its unit, as the end of a sentence: "gave no answer".
[[nodiscard]] std::string_view what_happened(Verdict verdict);

/// What went wrong in the first finding of a group, in one sentence.
[[nodiscard]] std::string sentence_of(const FailureGroup& group);

/// "14 units of 2 operations: gather, reduce", without the operations if there is only one. Empty
/// for a group of one finding.
[[nodiscard]] std::string extent_of(const FailureGroup& group);

/// "3 more units, probably with this cause": those behind the first. Empty if there are none.
[[nodiscard]] std::string others_of(const FailureGroup& group);

/// The sentence with the cause if it is known, or else with the reason.
[[nodiscard]] std::string line_of_cause(const FailureGroup& group);

/// The line, the extent and the cell, unless they are empty, and the ids of the findings: `line`,
/// `extent`, `cell` and `units`.
[[nodiscard]] nlohmann::ordered_json to_json(const FailureGroup& group);

/// All groups of failures, and then those of what failed only as known, which have `is_known`.
[[nodiscard]] nlohmann::ordered_json causes_to_json(std::span<const Finding> findings);

}  // namespace rankcheck::harness
