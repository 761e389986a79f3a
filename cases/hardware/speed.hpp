#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

/// Speeds that have a target. The gate reports each speed with its target, but a slow speed never
/// turns the gate red.
namespace rankcheck::cases::hardware {

/// A measurement of `rankcheck bench` whose speed has a target.
struct Target {
  /// A pattern for the measurement's name, which leaves the size open.
  const char* measurement;
  /// The measured operation; null for a mixture of all collectives.
  const char* operation;
  /// The counter of the measurement that is compared with `value`.
  const char* counter;
  double value;
  /// Whether the counter should be at most `value`. Otherwise it should be at least `value`.
  bool is_upper;
};

/// All targets. cases/bench/README.md lists them.
[[nodiscard]] std::span<const Target> targets();

/// A measured speed that has a target.
struct Speed {
  /// The name of the measurement, for example "large/cuda/all_reduce/direct/8x67108864".
  std::string measurement;
  std::string counter;
  double value = 0;
  double target = 0;
  bool is_upper = false;
  /// Why the speed could not be measured. Empty if it was measured.
  std::string failure = {};

  [[nodiscard]] bool is_met() const { return is_upper ? value <= target : value >= target; }
};

/// The path of the file in the folder of Phase::speed that `rankcheck bench --json` writes.
[[nodiscard]] std::filesystem::path speed_file(const std::filesystem::path& folder);
/// Returns the measurements with a target from that file, in the order of the targets: the medians
/// of their repetitions. Throws FileError. Throws BadInput, also if the file has no such
/// measurement.
[[nodiscard]] std::vector<Speed> read_speeds(const std::filesystem::path& folder);

}  // namespace rankcheck::cases::hardware
