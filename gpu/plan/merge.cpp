#include "gpu/plan/merge.hpp"

#include <cstdint>

#include "reference/spec/to_size.hpp"

namespace rankcheck::gpu::plan {

namespace {

/// The first numbers that a plan's ranks, sources and further events have in the merged plan.
struct Start {
  int rank = 0;
  std::uint32_t source = 0;
  std::int32_t event = 0;
};

/// Appends the sources of a plan, and copies its programs with the numbers of the merged plan.
void append(const Plan& plan, int group, const Start& start, Plan& merged) {
  for (Range source : plan.sources) {
    source.rank += start.rank;
    merged.sources.push_back(source);
  }
  for (const std::int32_t r : plan.late) merged.late.push_back(start.rank + r);
  for (int r = 0; r < plan.ranks(); ++r) {
    const auto to = spec::to_size(start.rank + r);
    merged.scratch[to] = plan.scratch[spec::to_size(r)];
    merged.arithmetic[to] = plan.arithmetic[spec::to_size(r)];
    merged.divisors[to] = plan.divisors[spec::to_size(r)];
    merged.groups[to] = group;
    for (Step step : plan.steps[spec::to_size(r)]) {
      const bool is_entry = step.event.id < plan.ranks();
      step.event.id += is_entry ? start.rank : start.event - plan.ranks();
      step.destination.rank += start.rank;
      step.first_source += start.source;
      merged.steps[to].push_back(step);
    }
  }
}

}  // namespace

void merge(std::span<const Plan> plans, Plan& merged) {
  int ranks = 0;
  for (const Plan& each : plans) ranks += each.ranks();
  merged.reset(ranks);
  merged.groups.resize(spec::to_size(ranks));
  Start start{.event = ranks};
  for (std::size_t group = 0; group < plans.size(); ++group) {
    const Plan& plan = plans[group];
    append(plan, static_cast<int>(group), start, merged);
    start.rank += plan.ranks();
    start.source += static_cast<std::uint32_t>(plan.sources.size());
    start.event += plan.events - plan.ranks();
  }
  merged.events = start.event;
}

}  // namespace rankcheck::gpu::plan
