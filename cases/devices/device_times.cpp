#include "cases/devices/device_times.hpp"

#include <algorithm>
#include <cstddef>

#include "harness/case/fields.hpp"

namespace rankcheck::cases::bench {

using nlohmann::ordered_json;

ordered_json to_json(const TimesRequest& request) {
  return {{"case", harness::to_json(request.c)}, {"seconds", request.seconds_min}};
}

TimesRequest times_request_from_json(const nlohmann::json& json) {
  harness::Fields fields(json, "time");
  TimesRequest request{.c = harness::case_from_json(fields.at("case"))};
  fields.required("seconds", request.seconds_min);
  fields.reject_unknown();
  return request;
}

ordered_json to_json(const Times& times) {
  return {{"seconds", times.seconds},
          {"floor_seconds", times.floor_seconds},
          {"floor_bytes", times.floor_bytes}};
}

Times times_from_json(const nlohmann::json& json) {
  harness::Fields fields(json, "times");
  Times times;
  fields.required("seconds", times.seconds);
  fields.required("floor_seconds", times.floor_seconds);
  fields.required("floor_bytes", times.floor_bytes);
  fields.reject_unknown();
  if (times.seconds.empty()) fields.fail("seconds", "expected at least one");
  if (times.floor_seconds.empty()) fields.fail("floor_seconds", "expected at least one");
  return times;
}

Times time_in_turns(const std::function<double()>& run,
                    const std::function<double()>& run_floor,
                    double seconds_min) {
  // The first runs allocate memory and make plans of transforms. The second run makes CUDA graphs.
  constexpr int uncounted = 3;
  constexpr std::size_t runs_min = 5;
  constexpr std::size_t runs_max = 10000;
  Times times;
  for (int i = 0; i < uncounted; ++i) {
    run();
    run_floor();
  }
  double total = 0;
  while (times.seconds.size() < runs_min ||
         (total < seconds_min && times.seconds.size() < runs_max)) {
    times.seconds.push_back(run());
    times.floor_seconds.push_back(run_floor());
    total += times.seconds.back();
  }
  return times;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double moved_bytes(const gpu::plan::Plan& plan, std::int64_t element_bytes) {
  std::int64_t elements = 0;
  for (const auto& program : plan.steps) {
    for (const gpu::plan::Step& step : program) {
      if (step.source_count > 0) elements += step.destination.count;
      for (const gpu::plan::Range& source : plan.sources_of(step)) elements += source.count;
    }
  }
  return static_cast<double>(elements) * static_cast<double>(element_bytes);
}

double bandwidth_share(const Times& times, double bytes) {
  const double speed = bytes / median(times.seconds);
  return speed / (static_cast<double>(times.floor_bytes) / median(times.floor_seconds));
}

}  // namespace rankcheck::cases::bench
