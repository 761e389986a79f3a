#pragma once

#include <cstdint>
#include <string>

/// What a number of trials without an error, or with some, says of the error rate.
namespace rankcheck::cases::hardware {

/// What was tried. Only what was compared counts.
struct Exposure {
  /// Bytes that one copy moves, data patterns, and copies of each pattern: their product is
  /// `bytes`, unless probes of several sizes were added up.
  std::int64_t bytes_of_copy = 0;
  std::int64_t patterns = 0;
  std::int64_t copies = 0;
  /// Bytes that were compared, all copies together, and those of them that were wrong.
  std::int64_t bytes = 0;
  std::int64_t wrong_bytes = 0;

  /// Adds trials; `bytes_of_copy` becomes the larger one.
  Exposure& operator+=(const Exposure& other);
};

/// The confidence of all bounds that reports state.
inline constexpr double confidence = 0.95;

/// The upper end of the one-sided Clopper-Pearson interval: the largest error rate p at which
/// `errors` or fewer errors in `trials` independent trials still have the probability
/// 1 - confidence. Without errors that is 1 - (1 - confidence)^(1/trials), about 3/trials (the rule
/// of three). 1 where there were no trials. 0 <= errors <= trials.
[[nodiscard]] double error_rate_bound(std::int64_t errors, std::int64_t trials);

/// The probability of `errors` or fewer errors in `trials` trials of rate p, 0 < p < 1 and
/// errors < p trials; by the binomial's own terms from its largest one down (C. Loader, Fast and
/// Accurate Computation of Binomial Probabilities, 2000).
[[nodiscard]] double probability_of_at_most(std::int64_t errors, std::int64_t trials, double p);

/// "64 MiB x 12 patterns, 48 copies: 3,221,225,472 bytes compared, 0 wrong; error rate per byte
/// below 9.3e-10 (95 %, rule of three)".
[[nodiscard]] std::string to_text(const Exposure& exposure);

}  // namespace rankcheck::cases::hardware
