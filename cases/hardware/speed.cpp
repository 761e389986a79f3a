#include "cases/hardware/speed.hpp"

#include <fmt/format.h>

#include "harness/compare/bench_results.hpp"
#include "harness/report/report.hpp"
#include "harness/suite/suite_file.hpp"

#include "cases/devices/device_times.hpp"

namespace rankcheck::cases::hardware {

namespace {

constexpr Target all_targets[] = {
    {"frames/cuda/gaussian_gradients/fused/1x*", "gaussian_gradients", "floor_ratio", 1.7, true},
    {"large/cuda/all_reduce/direct/8x*", "all_reduce", "bandwidth_share", 0.7, false},
    {"cases/cuda", nullptr, "cases_per_second", 20, false},
};

}  // namespace

std::span<const Target> targets() {
  return all_targets;
}

std::filesystem::path speed_file(const std::filesystem::path& folder) {
  return folder / harness::bench_name;
}

std::vector<Speed> read_speeds(const std::filesystem::path& folder) {
  const auto file = harness::compare::read_bench_results(speed_file(folder));
  std::vector<Speed> speeds;
  for (const Target& target : all_targets) {
    for (const auto& [name, measured] : file.measurements) {
      if (!harness::matches(target.measurement, name)) continue;
      Speed& speed = speeds.emplace_back(Speed{.measurement = name,
                                               .counter = target.counter,
                                               .target = target.value,
                                               .is_upper = target.is_upper,
                                               .failure = measured.failure});
      const auto found = measured.counters.find(target.counter);
      if (found != measured.counters.end() && found->second.size() == measured.times.size()) {
        speed.value = bench::median(found->second);
      } else if (speed.failure.empty()) {
        speed.failure = "not measured";
      }
    }
  }
  if (speeds.empty()) {
    throw harness::BadInput(
        fmt::format("{}: expected a measurement that has a target", speed_file(folder).string()));
  }
  return speeds;
}

}  // namespace rankcheck::cases::hardware
