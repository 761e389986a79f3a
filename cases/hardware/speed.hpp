#pragma once

#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

/// The speeds that have a target, and what the gate says of them. Nothing is red because it is
/// slow: a speed beside its target is for people to read.
namespace rankcheck::cases::hardware {

/// A measurement of `rankcheck bench` whose speed has a target.
struct Target {
  /// A pattern of the measurement's name. Its size is left open.
  const char* measurement;
  /// The operation that is measured; null for a mixture of all collectives.
  const char* operation;
  /// The counter of the measurement that is compared with `value`.
  const char* counter;
  double value;
  /// Whether the counter should be `value` at most; otherwise it should be `value` at least.
  bool is_upper;
};

/// All targets; README.md, section Speed, has them for its readers.
[[nodiscard]] std::span<const Target> targets();

/// What was measured where there is a target.
struct Speed {
  /// The name of the measurement, "large/cuda/all_reduce/direct/8x67108864".
  std::string measurement;
  std::string counter;
  double value = 0;
  double target = 0;
  bool is_upper = false;
  /// Why it could not be measured; empty where it was.
  std::string failure = {};

  [[nodiscard]] bool is_met() const { return is_upper ? value <= target : value >= target; }
};

/// The measurements with a target in a file that `rankcheck bench --json` wrote, in the order of
/// the targets. Throws harness::BadInput where the file holds none.
[[nodiscard]] std::vector<Speed> speeds_of(const nlohmann::json& file);

}  // namespace rankcheck::cases::hardware
