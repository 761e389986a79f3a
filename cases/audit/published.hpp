#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace rankcheck::cases::audit {

/// What is known of a published defect here.
enum class PublishedState : std::uint8_t {
  /// It is planted, so that the audit looks for it.
  planted,
  /// It is planted, but takes so much memory and time that the audit looks for it only on request.
  huge,
  /// It is planted in the stand-in for NCCL, a library that is built with the tests.
  stand_in,
  /// Only hardware shows it.
  hardware,
  /// It is in an operation that rankcheck does not have.
  no_operation,
  /// The library's contract leaves the result open, so it is no defect.
  undefined,
};

/// A wrong result, a hang or a crash that a shipped library had.
struct Published {
  /// The library and what went wrong.
  std::string_view defect;
  /// The public report: a pull request, an issue or a commit.
  std::string_view source;
  /// When it shows.
  std::string_view condition;
  PublishedState state = PublishedState::planted;
  /// If it is planted: the name of the bug in catalogue(), huge_bugs() or stand_in_faults(). Else
  /// why it is not.
  std::string_view bug_or_reason;
  /// Its place in published(), from 1.
  int number = 0;
};

/// All published defects, in the order of their numbers.
[[nodiscard]] std::span<const Published> published();

/// "found" stands for `planted`; the other names are those of the enumerators.
[[nodiscard]] std::string_view name(PublishedState state);

}  // namespace rankcheck::cases::audit
