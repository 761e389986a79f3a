#include <algorithm>
#include <array>
#include <cstdint>

#include "reference/registry.hpp"
#include "reference/spec/to_size.hpp"

#include "cases/audit/catalogue.hpp"
#include "cases/audit/plan_edits.hpp"
#include "cases/audit/result_edits.hpp"
#include "cases/families/collectives/case.hpp"

/// Bugs that need a history: what other calls of the same ranks leave behind changes this call.
namespace rankcheck::cases::audit {

namespace {

using harness::Case;

/// The call before this one; the call itself if it is the first.
const Case& before(const Outcome& outcome) {
  return outcome.stages[outcome.stage > 0 ? outcome.stage - 1 : 0];
}

/// Whether a call of another operation came before. Other properties repeat calls of one operation.
bool has_before(const Outcome& outcome) {
  return outcome.stage > 0 && before(outcome).operation != outcome.c().operation;
}

const spec::Contract& contract_of(const Case& c) {
  return reference::contract_named(c.operation);
}

const spec::CollectiveTraits& traits_of(const Case& c) {
  return collective(contract_of(c));
}

/// The bytes that a rank has in the call, or all ranks together if their parts differ.
std::int64_t moved_bytes(const Case& c) {
  return elements_of(c) * spec::info(c.type).bytes;
}

void leave_unwritten_if(bool is_hit, const Outcome& outcome) {
  if (is_hit) leave_unwritten_where(outcome, [](int, std::int64_t) { return true; });
}

void flip_if(bool is_hit, const Outcome& outcome) {
  if (is_hit) flip_first_of_all(outcome);
}

constexpr std::array bugs_in_histories{
    Bug{.name = "third_call_after_short_ones",
        .summary = "A ring of slots for short messages wraps: the call after two short ones reads "
                   "a slot too early.",
        .source = "nccl#2389",
        .target = {"all_reduce", "ring"},
        .edit_result =
            [](const Outcome& outcome) {
              flip_if(outcome.stage >= 2 && has_before(outcome) &&
                          moved_bytes(before(outcome)) <= 16 &&
                          moved_bytes(outcome.stages[outcome.stage - 2]) <= 16,
                      outcome);
            }},
    Bug{.name = "slot_reused_before_it_is_read",
        .summary = "The next call writes into the slot that a slow rank still reads for this one.",
        .source = "ucc#541",
        .target = {"all_gather", "direct"},
        .edit_result =
            [](const Outcome& outcome) {
              if (!has_before(outcome)) return;
              flip_first_of_all(
                  {outcome.stages, outcome.stage - 1, outcome.observation, 0, outcome.kept});
            }},
    Bug{.name = "flag_left_by_a_barrier",
        .summary = "The flag that a barrier sets is not reset, so the next call waits for nobody.",
        .target = {"broadcast", "chain"},
        .edit_result =
            [](const Outcome& outcome) {
              leave_unwritten_if(has_before(outcome) && contract_of(before(outcome)).synchronises,
                                 outcome);
            }},
    Bug{.name = "tag_left_by_an_empty_call",
        .summary = "A call without elements takes no message, so the next call gets it.",
        .target = {"reduce_scatter", "ring"},
        .edit_result =
            [](const Outcome& outcome) {
              flip_if(has_before(outcome) && contract_of(before(outcome)).has_buffers &&
                          elements_of(before(outcome)) == 0,
                      outcome);
            }},
    Bug{.name = "messages_of_the_freed_communicator",
        .summary = "A communicator that is made anew gets the messages of the one before it.",
        .target = {"all_gather", "bruck"},
        .edit_result =
            [](const Outcome& outcome) {
              flip_if(has_before(outcome) &&
                          group_size(before(outcome)) == group_size(outcome.c()) &&
                          members(before(outcome)) != members(outcome.c()),
                      outcome);
            }},
    Bug{.name = "wait_for_the_request_before",
        .summary = "The wait of a call completes the request of a rooted call before it.",
        .target = {"all_to_all", "pairwise"},
        .edit_result =
            [](const Outcome& outcome) {
              leave_unwritten_if(has_before(outcome) && traits_of(before(outcome)).rooted, outcome);
            }},
    Bug{.name = "divisor_left_by_an_average",
        .summary = "The divisor of an average is kept for the sum behind it.",
        .target = {"reduce", "binomial"},
        .edit_result =
            [](const Outcome& outcome) {
              const bool is_after = has_before(outcome) && traits_of(before(outcome)).reduces &&
                                    collective(before(outcome)).op == spec::ReduceOp::avg;
              if (is_after && group_size(before(outcome)) > 1) {
                map_values(outcome, [](double value) { return value / 2; });
              }
            }},
    Bug{.name = "scratch_of_a_shorter_call",
        .summary = "A short call makes the scratch memory smaller, and the next call loses its "
                   "tail.",
        .target = {"scatter", "binomial"},
        .edit_result =
            [](const Outcome& outcome) {
              if (!has_before(outcome) || !contract_of(before(outcome)).has_buffers) return;
              const std::int64_t kept = elements_of(before(outcome));
              leave_unwritten_where(outcome,
                                    [&](int, std::int64_t index) { return index >= kept; });
            }},
    Bug{.name = "root_of_the_call_before",
        .summary = "The root of a rooted call is kept for the next one.",
        .target = {"gather", "direct"},
        .edit_result =
            [](const Outcome& outcome) {
              leave_unwritten_if(
                  has_before(outcome) && traits_of(before(outcome)).rooted &&
                      collective(before(outcome)).root != collective(outcome.c()).root,
                  outcome);
            }},
    Bug{.name = "width_of_the_type_before",
        .summary = "The number of bytes is computed with the element type of the call before.",
        .target = {"all_gather_v", "ring"},
        .edit_result =
            [](const Outcome& outcome) {
              flip_if(has_before(outcome) && spec::info(before(outcome).type).bytes <
                                                 spec::info(outcome.c().type).bytes,
                      outcome);
            }},
    Bug{.name = "in_place_left_by_the_call_before",
        .summary = "A call in place leaves its flag to the next one, which then reads its output.",
        .target = {"reduce", "direct"},
        .edit_result =
            [](const Outcome& outcome) {
              leave_unwritten_if(
                  has_before(outcome) && before(outcome).in_place && !outcome.c().in_place,
                  outcome);
            }},
    Bug{.name = "message_of_the_call_under_way",
        .summary = "A rank takes any message for its own while others still make the call before.",
        .target = {"scatter", "direct"},
        .found_by = {.says = "unordered"},
        .edit_history =
            [](std::span<const Case> stages, Plan& merged) {
              const int last = static_cast<int>(stages.size()) - 1;
              const StepFilter waits = waits_for_arrival(merged);
              erase_all(merged, [&](int rank, const Step& step) {
                return merged.groups[spec::to_size(rank)] == last && waits(rank, step);
              });
            }},
    Bug{.name = "late_rank_of_the_call_before",
        .summary = "A rank that came late to a call is taken for one of the next call.",
        .target = {"scatter_v", "direct"},
        .edit_result =
            [](const Outcome& outcome) {
              flip_if(has_before(outcome) && before(outcome).late > 0, outcome);
            }},
};

}  // namespace

void add_bugs_in_histories(std::vector<Bug>& out) {
  for (Bug bug : bugs_in_histories) {
    bug.found_by.property = "is_independent_of_history";
    bug.without = R"({"earlier":[]})";
    out.push_back(bug);
  }
}

}  // namespace rankcheck::cases::audit
