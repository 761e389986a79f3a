#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/spec/to_size.hpp"

#include "cases/audit/catalogue.hpp"
#include "cases/audit/plan_edits.hpp"
#include "cases/audit/result_edits.hpp"
#include "cases/families/collectives/case.hpp"

/// Bugs that show only if several groups call at the same time, the same call is made several
/// times, a rank comes late, or inputs do.
namespace rankcheck::cases::audit {

namespace {

using harness::Case;

constexpr std::string_view made_once = R"({"repeat":1})";

/// Selects the steps that `chosen` selects, in the calls from `first_call` on.
StepFilter from_call(const Plan& merged, int first_call, StepFilter chosen) {
  return [&merged, first_call, chosen = std::move(chosen)](int rank, const Step& step) {
    return merged.groups[spec::to_size(rank)] >= first_call && chosen(rank, step);
  };
}

/// Removes a rank's contribution from a reduction of several.
void remove_source(int rank, Step& step, std::span<Range> sources) {
  const auto its = std::find_if(
      sources.begin(), sources.end(), [&](const Range& source) { return source.rank == rank; });
  if (its == sources.end() || sources.size() < 2) return;
  std::iter_swap(sources.begin(), its);
  ++step.first_source;
  --step.source_count;
}

/// Whether the first rank entered behind all others.
bool is_first_rank_last(const Outcome& outcome) {
  const std::vector<harness::Stamp>& stamps = outcome.observation.stages[outcome.stage].stamps;
  return std::all_of(stamps.begin() + 1, stamps.end(), [&](const harness::Stamp& each) {
    return each.entered < stamps.front().entered;
  });
}

/// Returns the plan of one call by all ranks of these groups.
Plan plan_of_all_ranks(std::span<const Case> stages) {
  Case whole = stages.front();
  whole.group.clear();
  for (const Case& each : stages) {
    for (const int rank : members(each)) whole.group.push_back(rank);
  }
  return plan_of(whole);
}

/// The first message to another rank of a group of the plan; null if there is none.
Step* first_message(Plan& plan, int group) {
  for (std::size_t r = 0; r < plan.steps.size(); ++r) {
    if (plan.groups[r] != group) continue;
    for (Step& step : plan.steps[r]) {
      if (is_put(static_cast<int>(r), step)) return &step;
    }
  }
  return nullptr;
}

constexpr std::array bugs_in_calls{
    Bug{.name = "communicator_of_the_world",
        .summary = "A group makes its call in the communicator of the world. The call completes "
                   "because the other ranks call at the same time.",
        .target = {"all_reduce", "ring"},
        .found_by = {"groups_at_once"},
        .edit_groups = [](std::span<const Case> stages,
                          Plan& merged) { merged = plan_of_all_ranks(stages); }},
    Bug{.name = "group_forgotten_for_lists",
        .summary = "A call for a list ignores the group and is made in the world. The call "
                   "completes because the other ranks call at the same time.",
        .source = "nnabla, reduce of lists",
        .target = {"all_reduce_list", "packed"},
        .found_by = {"groups_at_once"},
        .edit_groups = [](std::span<const Case> stages,
                          Plan& merged) { merged = plan_of_all_ranks(stages); }},
    Bug{.name = "messages_of_two_groups_mixed",
        .summary = "Two groups use the same tag, so each gets a message of the other.",
        .target = {"broadcast", "binomial"},
        .found_by = {"groups_at_once", "unordered"},
        .ranks_max = 4,
        .edit_groups =
            [](std::span<const Case>, Plan& merged) {
              Step* const a = first_message(merged, 0);
              Step* const b = first_message(merged, 1);
              if (a != nullptr && b != nullptr) std::swap(a->destination.rank, b->destination.rank);
            }},
    // These two show only if a rank is really held back, or an input really arrives late. In this
    // order of moves, the first rank enters first unless it is late.
    Bug{.name = "first_rank_not_awaited",
        .summary = "The other ranks return without data if the first rank enters behind them.",
        .target = {"all_gather", "direct"},
        .without = R"({"late":-1})",
        .hits = [](const Case& c) { return c.schedule == "in_order" && group_size(c) > 1; },
        .edit_result =
            [](const Outcome& outcome) {
              if (!is_first_rank_last(outcome)) return;
              leave_unwritten_where(outcome, [](int rank, std::int64_t) { return rank > 0; });
            }},
    Bug{.name = "input_read_at_the_call",
        .summary = "The first message has the content that its source had when the call was made. "
                   "The input arrives later on the stream.",
        .target = {"scatter", "direct"},
        .without = R"({"pending":false})",
        .fault = "stale:0"},
    Bug{.name = "late_rank_given_up",
        .summary = "The ranks wait for their peers only for a while, and then go on without them.",
        .target = {"all_reduce", "one_shot"},
        .without = R"({"late":-1})",
        .hits = [](const Case& c) { return c.late >= 0; },
        .edit_steps = {is_reduce,
                       [](const Case& c, Step& step, std::span<Range> sources) {
                         if (step.destination.rank != c.late) remove_source(c.late, step, sources);
                       }}},
    Bug{.name = "late_root_not_awaited",
        .summary = "A rank that does not meet the root in its first attempts returns without data.",
        .target = {"scatter", "direct"},
        .found_by = {.says = "differs from the reference"},
        .without = R"({"late":-1})",
        .hits = [](const Case& c) { return c.late == collective(c).root; },
        .unwritten = [](const Outcome& outcome,
                        int rank,
                        std::int64_t) { return rank != outcome.c().late; }},
    Bug{.name = "input_not_awaited",
        .summary = "The call reads its input although a kernel still writes it, because it uses a "
                   "stream of its own.",
        .source = "pytorch#38642",
        .target = {"broadcast", "binomial"},
        .without = R"({"pending":false})",
        .hits = [](const Case& c) { return c.pending; },
        .edit_result =
            [](const Outcome& outcome) {
              const std::int64_t bytes = spec::info(outcome.c().type).bytes;
              // Until an input arrives, every bit is wrong.
              for_each_output(outcome, [&](int rank, std::int64_t, std::byte* element) {
                if (rank == collective(outcome.c()).root) return;
                std::for_each(element, element + bytes, [](std::byte& each) { each = ~each; });
              });
            }},
    Bug{.name = "slot_reused_in_flight",
        .summary = "The next call begins while a call is in flight, and its first message goes to "
                   "the slot of that call.",
        .source = "ucc#1268",
        .target = {"all_to_all_v", "pairwise"},
        .found_by = {repeating_property, "unordered"},
        .without = made_once,
        .edit_calls =
            [](std::span<const Case> stages, Plan& merged) {
              bool is_sent = false;
              const auto first_message = [&](int rank, const Step& step) {
                return !is_sent && merged.groups[spec::to_size(rank)] == 1 && is_put(rank, step);
              };
              change(merged, first_message, [&](Step& step, std::span<Range>) {
                step.destination.rank -= group_size(stages.front());
                is_sent = true;
              });
            }},
    Bug{.name = "flags_kept",
        .summary = "The flags of the call before are still set, so no rank waits for its peers.",
        .target = {"all_reduce", "ring"},
        .found_by = {repeating_property, "never written"},
        .without = made_once,
        .edit_calls =
            [](std::span<const Case>, Plan& merged) {
              erase_all(merged, from_call(merged, 1, waits_for_arrival(merged)));
            }},
    Bug{.name = "odd_batch_unsynchronised",
        .summary = "The ranks synchronise on two flags in turn. After an odd number of calls in a "
                   "batch, the flag of the last call is still set.",
        .source = "nccl 428f0f20",
        .target = {"all_gather", "direct"},
        .found_by = {repeating_property, "unordered"},
        .without = made_once,
        .edit_calls =
            [](std::span<const Case> stages, Plan& merged) {
              if (stages.size() % 2 == 0) return;
              const int last = static_cast<int>(stages.size()) - 1;
              erase_all(merged, from_call(merged, last, waits_for_entry(merged)));
            }},
    Bug{.name = "first_input_kept",
        .summary = "The last of many calls in place sends what the first one sent.",
        .target = {"all_gather", "ring"},
        .found_by = {repeating_property, "result of call 1"},
        .without = made_once,
        .hits = [](const Case& c) { return c.in_place; },
        .edit_result =
            [](const Outcome& outcome) {
              constexpr std::size_t many = 4;
              const bool is_last = outcome.stage + 1 == outcome.stages.size();
              if (is_last && outcome.stages.size() >= many &&
                  is_repeated(outcome.stages.front(), outcome.c())) {
                take_outputs(outcome, outcome.observation.stages.front().images);
              }
            }},
};

}  // namespace

void add_bugs_in_calls(std::vector<Bug>& out) {
  out.insert(out.end(), bugs_in_calls.begin(), bugs_in_calls.end());
}

}  // namespace rankcheck::cases::audit
