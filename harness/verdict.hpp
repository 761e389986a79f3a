#pragma once

#include <cstdint>
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

[[nodiscard]] std::string_view name(Verdict verdict);

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
};

/// What the checks of one case found so far.
struct Judgement {
  Verdict verdict = Verdict::passed;
  /// One line; of the first check that failed.
  std::string reason;
  std::int64_t compared_bytes = 0;
  std::int64_t wrong_count = 0;
  /// The largest error/bound seen; 0 where everything was exact.
  double ratio_max = 0;
  /// The first wrong elements.
  std::vector<WrongElement> wrong;

  /// Keeps the first failure.
  void fail(Verdict kind, std::string why) {
    if (verdict != Verdict::passed) return;
    verdict = kind;
    reason = std::move(why);
  }
};

}  // namespace rankcheck::harness
