#pragma once

#include <functional>
#include <span>

#include "gpu/plan/plan.hpp"

#include "harness/case.hpp"

/// Small mistakes in plans.
namespace rankcheck::cases::planted {

using gpu::plan::Buffer;
using gpu::plan::Plan;
using gpu::plan::Range;
using gpu::plan::Step;
using gpu::plan::StepKind;

/// Chooses steps of rank `rank`.
using StepFilter = std::function<bool(int rank, const Step& step)>;

/// Steps that write.
[[nodiscard]] bool moves(int rank, const Step& step);
[[nodiscard]] bool is_put(int rank, const Step& step);
[[nodiscard]] bool is_reduce(int rank, const Step& step);
/// Waits for a rank's entry, and for everything else.
[[nodiscard]] StepFilter waits_for_entry(const Plan& plan);
[[nodiscard]] StepFilter waits_for_arrival(const Plan& plan);

/// Erases the chosen steps: all, the first of the lowest rank, the last of the highest rank, or the
/// last of every rank that has two at least.
void erase_all(Plan& plan, const StepFilter& chosen);
void erase_first(Plan& plan, const StepFilter& chosen);
void erase_last(Plan& plan, const StepFilter& chosen);
void erase_last_of_several(Plan& plan, const StepFilter& chosen);

/// Calls `edit` with every chosen step and its sources.
void change(Plan& plan,
            const StepFilter& chosen,
            const std::function<void(Step& step, std::span<Range> sources)>& edit);
/// Calls `edit` with every range that a step names.
void change_ranges(Plan& plan, const std::function<void(Range& range)>& edit);

/// The plan that the case's algorithm writes.
[[nodiscard]] Plan plan_of(const harness::Case& c);
/// The plan for the members in ascending order, where the group has them in another.
[[nodiscard]] Plan plan_of_sorted_group(const harness::Case& c, const Plan& plan);

}  // namespace rankcheck::cases::planted
