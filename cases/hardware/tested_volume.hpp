#pragma once

#include <cstdint>
#include <string>

/// Bounds on error rates from a number of trials and a number of errors.
namespace rankcheck::cases::hardware {

/// The amount of data that was tested. Only compared data counts.
struct TestedVolume {
  /// Bytes that one copy moves, data patterns, and copies of each pattern. Their product is
  /// `bytes`, unless probes of several sizes were added.
  std::int64_t bytes_of_copy = 0;
  std::int64_t patterns = 0;
  std::int64_t copies = 0;
  /// The bytes that were compared in all copies, and the number of wrong bytes among them.
  std::int64_t bytes = 0;
  std::int64_t wrong_bytes = 0;

  /// Adds another volume. `bytes_of_copy` becomes the larger of both values.
  TestedVolume& operator+=(const TestedVolume& other);
};

/// The confidence of all bounds in reports.
inline constexpr double confidence = 0.95;

/// The upper end of the one-sided Clopper-Pearson interval. It is the largest error rate p at which
/// `errors` or fewer errors in `trials` independent trials still have the probability 1 -
/// confidence. Without errors, it is 1 - (1 - confidence)^(1/trials), about 3/trials (the rule of
/// three). Without trials, it is 1. Requires 0 <= errors <= trials.
[[nodiscard]] double error_rate_bound(std::int64_t errors, std::int64_t trials);

/// The probability of `errors` or fewer errors in `trials` trials of rate p. Requires 0 < p < 1 and
/// errors < p trials. Sums the terms of the binomial distribution from the largest one down (C.
/// Loader, Fast and Accurate Computation of Binomial Probabilities, 2000).
[[nodiscard]] double probability_of_at_most(std::int64_t errors, std::int64_t trials, double p);

/// For example "64 MiB x 12 patterns, 48 copies: 3,221,225,472 bytes compared, 0 wrong; error rate
/// per byte below 9.3e-10 (95 %, rule of three)".
[[nodiscard]] std::string to_text(const TestedVolume& volume);

}  // namespace rankcheck::cases::hardware
