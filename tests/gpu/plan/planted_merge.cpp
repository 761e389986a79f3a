#include <cstdint>

#include "reference/spec/to_size.hpp"

#include "gpu/plan/merge.hpp"

/// The worker for `cuda` with one fault: this function replaces the one of merge.cpp. Groups that
/// call at the same time use the communicator of the world, so the place of a receiver in its group
/// is taken for a rank of the world.
namespace rankcheck::gpu::plan {

void merge(std::span<const Plan> plans, Plan& merged) {
  int ranks = 0;
  for (const Plan& each : plans) ranks += each.ranks();
  merged.reset(ranks);
  std::int32_t events = ranks;
  int first = 0;
  for (std::size_t group = 0; group < plans.size(); ++group) {
    const Plan& plan = plans[group];
    const auto first_source = static_cast<std::uint32_t>(merged.sources.size());
    for (Range source : plan.sources) {
      source.rank += first;
      merged.sources.push_back(source);
    }
    for (std::size_t r = 0; r < plan.steps.size(); ++r) {
      const std::size_t to = spec::to_size(first) + r;
      merged.scratch[to] = plan.scratch[r];
      merged.arithmetic[to] = plan.arithmetic[r];
      merged.divisors[to] = plan.divisors[r];
      merged.groups.push_back(static_cast<int>(group));
      for (Step step : plan.steps[r]) {
        step.event.id += step.event.id < plan.ranks() ? first : events - plan.ranks();
        // The fault: merge() adds `first` to the receiver of a message, too.
        if (step.kind != StepKind::put) step.destination.rank += first;
        step.first_source += first_source;
        merged.steps[to].push_back(step);
      }
    }
    first += plan.ranks();
    events += plan.events - plan.ranks();
  }
  merged.events = events;
}

}  // namespace rankcheck::gpu::plan
