#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/finding.hpp"

namespace rankcheck::harness::page {

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
};

[[nodiscard]] Cause cause_of(const WrongElement& wrong);

/// The cause of a wrong element as a sentence: "The contribution of rank 2 is missing." A place
/// such as "pixel (1, 2)" becomes "At pixel (1, 2)." Empty if nothing is known.
[[nodiscard]] std::string in_words(const WrongElement& wrong);

/// Findings that are not green, with one cause: the same operation, algorithm, backend, verdict and
/// decoded cause.
struct FailureGroup {
  /// The first is the one with the fewest ranks and the fewest elements.
  std::vector<const Finding*> findings;
};

/// Whether the page shows a card for the finding: it is red or errored.
[[nodiscard]] bool needs_card(const Finding& finding);

/// All groups, in the order of severity and then of names.
[[nodiscard]] std::vector<FailureGroup> group_failures(std::span<const Finding> findings);

/// What went wrong in the first finding of a group, in one sentence.
[[nodiscard]] std::string sentence_of(const Finding& finding);

/// The same with the cause if it is known, or else with the reason.
[[nodiscard]] std::string line_of(const Finding& finding);

}  // namespace rankcheck::harness::page
