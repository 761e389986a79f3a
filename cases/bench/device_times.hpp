#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <nlohmann/json.hpp>

#include "gpu/plan/plan.hpp"

#include "harness/case.hpp"

/// Times that a worker takes by the clocks of its devices, where ours would time the way there and
/// back too. The worker and who asks it share this.
namespace rankcheck::cases::bench {

/// What a worker is to measure: `worker --time REQUEST`.
struct TimesRequest {
  harness::Case c = {};
  /// At least, in runs of the case.
  double seconds_min = 0;
};

[[nodiscard]] nlohmann::ordered_json to_json(const TimesRequest& request);
/// Throws harness::BadInput that names the field.
[[nodiscard]] TimesRequest times_request_from_json(const nlohmann::json& json);

/// Runs of a case, and runs of what it is measured against, in turns with them.
struct Times {
  std::vector<double> seconds = {};
  std::vector<double> floor_seconds = {};
  /// What one run of the floor reads and writes, where it is a copy.
  std::int64_t floor_bytes = 0;
};

[[nodiscard]] nlohmann::ordered_json to_json(const Times& times);
/// Throws harness::BadInput that names the field, also where nothing was measured.
[[nodiscard]] Times times_from_json(const nlohmann::json& json);

/// Runs both in turns until the runs have taken so many seconds; each returns its own. The first
/// ones, which find nothing ready, do not count.
[[nodiscard]] Times time_in_turns(const std::function<double()>& run,
                                  const std::function<double()>& run_floor,
                                  double seconds_min);

/// The middle one, the upper of two. At least one value.
[[nodiscard]] double median(std::vector<double> values);

/// The bytes that a plan must move: those that its steps read and those that they write, every time
/// that they do.
[[nodiscard]] double moved_bytes(const gpu::plan::Plan& plan, std::int64_t element_bytes);

/// The speed at which the runs moved bytes as a share of that of the floor, which copied; at the
/// medians. The floor has bytes.
[[nodiscard]] double bandwidth_share(const Times& times, double bytes);

}  // namespace rankcheck::cases::bench
