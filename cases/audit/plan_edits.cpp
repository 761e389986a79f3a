#include "cases/audit/plan_edits.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "reference/registry.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/collectives/registry.hpp"
#include "gpu/plan/builder.hpp"

#include "harness/case/hosts.hpp"

#include "cases/families/collectives/case.hpp"

namespace rankcheck::cases::audit {

bool edits_plans(const Bug& bug) {
  return bug.edit_plan != nullptr || bug.edit_steps.edit != nullptr || bug.edit_case != nullptr;
}

void apply(const Bug& bug, const harness::Case& c, Plan& plan) {
  if (bug.edit_plan != nullptr) bug.edit_plan(c, plan);
  if (bug.edit_steps.edit != nullptr) {
    change(plan, bug.edit_steps.chosen, [&](Step& step, std::span<Range> sources) {
      bug.edit_steps.edit(c, step, sources);
    });
  }
  if (bug.edit_case != nullptr) {
    harness::Case other = c;
    bug.edit_case(other);
    plan = plan_of(other);
  }
}

bool moves(int /*rank*/, const Step& step) {
  return step.kind != StepKind::signal && step.kind != StepKind::wait;
}

bool is_put(int /*rank*/, const Step& step) {
  return step.kind == StepKind::put;
}

bool is_reduce(int /*rank*/, const Step& step) {
  return step.kind == StepKind::reduce;
}

StepFilter waits_for_entry(const Plan& plan) {
  return [n = plan.ranks()](int, const Step& step) {
    return step.kind == StepKind::wait && step.event.id < n;
  };
}

StepFilter waits_for_arrival(const Plan& plan) {
  return [n = plan.ranks()](int, const Step& step) {
    return step.kind == StepKind::wait && step.event.id >= n;
  };
}

void erase_all(Plan& plan, const StepFilter& chosen) {
  for (int rank = 0; rank < plan.ranks(); ++rank) {
    std::erase_if(plan.steps[spec::to_size(rank)],
                  [&](const Step& step) { return chosen(rank, step); });
  }
}

void erase_first(Plan& plan, const StepFilter& chosen) {
  bool erased = false;
  erase_all(plan, [&](int rank, const Step& step) {
    return !erased && chosen(rank, step) && (erased = true);
  });
}

void erase_last(Plan& plan, const StepFilter& chosen) {
  int left = 0;
  const auto count = [&](int rank, const Step& step) {
    left += chosen(rank, step) ? 1 : 0;
    return false;
  };
  erase_all(plan, count);
  erase_all(plan, [&](int rank, const Step& step) { return chosen(rank, step) && --left == 0; });
}

void erase_last_of_several(Plan& plan, const StepFilter& chosen) {
  std::vector<int> left(plan.steps.size(), 0);
  std::vector<bool> several(plan.steps.size());
  erase_all(plan, [&](int rank, const Step& step) {
    const auto r = spec::to_size(rank);
    if (chosen(rank, step)) several[r] = ++left[r] > 1;
    return false;
  });
  erase_all(plan, [&](int rank, const Step& step) {
    const auto r = spec::to_size(rank);
    return chosen(rank, step) && --left[r] == 0 && several[r];
  });
}

void change(Plan& plan,
            const StepFilter& chosen,
            const std::function<void(Step& step, std::span<Range> sources)>& edit) {
  for (int rank = 0; rank < plan.ranks(); ++rank) {
    for (Step& step : plan.steps[spec::to_size(rank)]) {
      if (!chosen(rank, step)) continue;
      edit(step, std::span(plan.sources).subspan(step.first_source, step.source_count));
    }
  }
}

void change_ranges(Plan& plan, const std::function<void(Range& range)>& edit) {
  change(plan, moves, [&](Step& step, std::span<Range> sources) {
    edit(step.destination);
    std::for_each(sources.begin(), sources.end(), edit);
  });
}

void leave_out_last_of_sums(Plan& plan) {
  change(plan, is_reduce, [](Step& step, std::span<Range>) {
    if (step.finish && step.source_count > 1) --step.source_count;
  });
}

Plan plan_of(const harness::Case& c) {
  const auto& all = gpu::implementations();
  const auto found = std::find_if(all.begin(), all.end(), [&](const gpu::Implementation& each) {
    return each.operation == c.operation && each.algorithm.name == c.algorithm;
  });
  Plan plan;
  const spec::Call call = collective_call(c);
  gpu::plan::Builder builder;
  builder.begin(plan,
                reference::contract_named(c.operation),
                call,
                {.in_place = c.in_place, .chunk = c.chunk, .hosts = harness::hosts_of_members(c)});
  found->algorithm.plan(builder);
  return plan;
}

Plan plan_of_sorted_group(const harness::Case& c, const Plan& plan) {
  const std::vector<int> group = members(c);
  std::vector<int> order(group.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return group[spec::to_size(a)] < group[spec::to_size(b)];
  });
  const auto renamed = [&](int rank) { return order[spec::to_size(rank)]; };
  Plan result = plan;
  change_ranges(result, [&](Range& range) { range.rank = renamed(range.rank); });
  for (int rank = 0; rank < plan.ranks(); ++rank) {
    for (Step& step : result.steps[spec::to_size(rank)]) {
      const bool is_entry = !moves(rank, step) && step.event.id < plan.ranks();
      if (is_entry) step.event.id = renamed(step.event.id);
    }
  }
  std::vector<std::vector<Step>> steps(result.steps.size());
  std::vector<std::int64_t> scratch(result.scratch.size());
  for (std::size_t r = 0; r < order.size(); ++r) {
    steps[spec::to_size(order[r])] = std::move(result.steps[r]);
    scratch[spec::to_size(order[r])] = result.scratch[r];
  }
  result.steps = std::move(steps);
  result.scratch = std::move(scratch);
  return result;
}

}  // namespace rankcheck::cases::audit
