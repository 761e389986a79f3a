#pragma once

#include <functional>
#include <span>

#include "gpu/plan/plan.hpp"

#include "harness/case/case.hpp"

#include "cases/audit/bug.hpp"

/// Small mistakes in plans.
namespace rankcheck::cases::audit {

using gpu::plan::Buffer;
using gpu::plan::Plan;
using gpu::plan::Range;
using gpu::plan::Step;
using gpu::plan::StepKind;

/// Whether the bug changes the plan of a stage.
[[nodiscard]] bool edits_plans(const Bug& bug);
/// Applies the bug's changes to the plan.
void apply(const Bug& bug, const harness::Case& c, Plan& plan);

/// Selects steps of a rank.
using StepFilter = std::function<bool(int rank, const Step& step)>;

/// Whether a step writes.
[[nodiscard]] bool moves(int rank, const Step& step);
[[nodiscard]] bool is_put(int rank, const Step& step);
[[nodiscard]] bool is_reduce(int rank, const Step& step);
/// Select the waits for a rank's entry into the call, and all other waits.
[[nodiscard]] StepFilter waits_for_entry(const Plan& plan);
[[nodiscard]] StepFilter waits_for_arrival(const Plan& plan);

/// Erase chosen steps, in this order:
/// - all of them,
/// - the first one of the lowest rank,
/// - the last one of the highest rank,
/// - the last one of every rank that has at least two.
void erase_all(Plan& plan, const StepFilter& chosen);
void erase_first(Plan& plan, const StepFilter& chosen);
void erase_last(Plan& plan, const StepFilter& chosen);
void erase_last_of_several(Plan& plan, const StepFilter& chosen);

/// Calls `edit` with every chosen step and its sources.
void change(Plan& plan,
            const StepFilter& chosen,
            const std::function<void(Step& step, std::span<Range> sources)>& edit);
/// Calls `edit` with the destination and all sources of every step that writes.
void change_ranges(Plan& plan, const std::function<void(Range& range)>& edit);

/// Leaves out the last source of every finished reduction that has several.
void leave_out_last_of_sums(Plan& plan);

/// Returns the plan that the case's algorithm builds.
[[nodiscard]] Plan plan_of(const harness::Case& c);
/// Returns the plan as if the group listed its members in ascending order.
[[nodiscard]] Plan plan_of_sorted_group(const harness::Case& c, const Plan& plan);

}  // namespace rankcheck::cases::audit
