#include "cases/hardware/speed.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "harness/case/fields.hpp"
#include "harness/suite/suite_file.hpp"

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

/// The median over the repetitions of one measurement. It fails if a repetition failed.
Speed speed_of(const std::vector<const json*>& repetitions, const Target& target) {
  Speed speed{.measurement = name_of(*repetitions.front()),
              .counter = target.counter,
              .target = target.value,
              .is_upper = target.is_upper};
  std::vector<double> values;
  for (const json* each : repetitions) {
    if (each->contains(target.counter)) {
      values.push_back(each->at(target.counter));
    } else {
      speed.failure = each->value("error_message", "not measured");
    }
  }
  if (!speed.failure.empty()) return speed;
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  speed.value = *middle;
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
      std::map<std::string, std::vector<const json*>> measurements;
      for (const json& each : file.at("benchmarks")) {
        // Google Benchmark adds means and the like.
        if (each.value("run_type", "iteration") != "iteration") continue;
        const std::string name = name_of(each);
        if (harness::matches(target.measurement, name)) measurements[name].push_back(&each);
      }
      for (const auto& [name, each] : measurements) speeds.push_back(speed_of(each, target));
    }
  } catch (const json::exception&) {
    throw BadInput("expected a file of rankcheck bench --json");
  }
  if (speeds.empty()) throw BadInput("expected a measurement that has a target");
  return speeds;
}

}  // namespace rankcheck::cases::hardware
