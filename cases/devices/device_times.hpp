#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <nlohmann/json.hpp>

#include "gpu/plan/plan.hpp"

#include "harness/case/case.hpp"

/// Times that a worker measures with the clocks of its devices. Our own clock would include the
/// communication with the worker. The worker and the main program share these types.
namespace rankcheck::cases::bench {

/// A request to a worker for a measurement: `worker --time REQUEST`.
struct TimesRequest {
  harness::Case c = {};
  /// The measured runs of the case take at least this many seconds together.
  double seconds_min = 0;
};

[[nodiscard]] nlohmann::ordered_json to_json(const TimesRequest& request);
/// Throws harness::BadInput that names the field.
[[nodiscard]] TimesRequest times_request_from_json(const nlohmann::json& json);

/// Seconds of the runs of a case, and of the runs of its floor. The runs took turns.
struct Times {
  std::vector<double> seconds = {};
  std::vector<double> floor_seconds = {};
  /// Bytes that one run of the floor reads and writes, if the floor is a copy. Otherwise 0.
  std::int64_t floor_bytes = 0;
};

[[nodiscard]] nlohmann::ordered_json to_json(const Times& times);
/// Throws harness::BadInput that names the field, also if nothing was measured.
[[nodiscard]] Times times_from_json(const nlohmann::json& json);

/// Calls `run` and `run_floor` in turns until the runs have taken `seconds_min` together. Each
/// function returns its seconds. The first runs do not count, because they prepare memory, plans
/// and graphs.
[[nodiscard]] Times time_in_turns(const std::function<double()>& run,
                                  const std::function<double()>& run_floor,
                                  double seconds_min);

/// Returns the middle value, or the upper one of two. Needs at least one value.
[[nodiscard]] double median(std::vector<double> values);

/// Returns the bytes that a plan must move: all bytes that its steps read and write. Bytes that
/// several steps read or write count each time.
[[nodiscard]] double moved_bytes(const gpu::plan::Plan& plan, std::int64_t element_bytes);

/// Returns the speed at which the runs moved `bytes`, as a share of the floor's copy speed. Both
/// use the median time. `times.floor_bytes` must not be 0.
[[nodiscard]] double bandwidth_share(const Times& times, double bytes);

}  // namespace rankcheck::cases::bench
