#include "cases/hardware/speed.hpp"

#include <fmt/format.h>

#include "harness/fields.hpp"
#include "harness/suite_file.hpp"

namespace rankcheck::cases::hardware {

namespace {

using harness::BadInput;
using nlohmann::json;

constexpr Target all_targets[] = {
    {"frames/cuda/gaussian_gradients/fused/1x*", "gaussian_gradients", "floor_ratio", 1.7, true},
    {"large/cuda/all_reduce/direct/8x*", "all_reduce", "bandwidth_share", 0.7, false},
    {"cases/cuda", nullptr, "cases_per_second", 20, false},
};

/// Returns the name of a measurement without the suffix that Google Benchmark appends.
std::string name_of(const json& measurement) {
  const std::string name = measurement.at("name");
  return name.substr(0, std::min(name.find("/iterations:"), name.find("/manual_time")));
}

Speed speed_of(const json& measurement, const Target& target) {
  Speed speed{.measurement = name_of(measurement),
              .counter = target.counter,
              .target = target.value,
              .is_upper = target.is_upper};
  if (measurement.contains(target.counter)) {
    speed.value = measurement.at(target.counter);
  } else {
    speed.failure = measurement.value("error_message", "not measured");
  }
  return speed;
}

}  // namespace

std::span<const Target> targets() {
  return all_targets;
}

std::vector<Speed> speeds_of(const json& file) {
  std::vector<Speed> speeds;
  try {
    for (const Target& target : all_targets) {
      for (const json& each : file.at("benchmarks")) {
        if (!harness::matches(target.measurement, name_of(each))) continue;
        speeds.push_back(speed_of(each, target));
      }
    }
  } catch (const json::exception&) {
    throw BadInput("expected a file of rankcheck bench --json");
  }
  if (speeds.empty()) throw BadInput("expected a measurement that has a target");
  return speeds;
}

}  // namespace rankcheck::cases::hardware
