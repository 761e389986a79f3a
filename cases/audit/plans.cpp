#include <algorithm>
#include <array>
#include <utility>

#include "reference/spec/to_size.hpp"

#include "cases/audit/catalogue.hpp"
#include "cases/audit/plan_edits.hpp"
#include "cases/families/collectives/case.hpp"

namespace rankcheck::cases::audit {

namespace {

using harness::Case;
using harness::Verdict;

constexpr std::array bugs_in_plans{
    Bug{.name = "missing_wait",
        .summary = "A rank uses its neighbour's data without waiting for it.",
        .source = "cupy#9727",
        .target = {"all_reduce", "ring"},
        // The schedule of the smallest case decides what the monitor sees first.
        .found_by = {.says = "scratch["},
        .edit_plan = [](const Case&, Plan& plan) { erase_first(plan, waits_for_arrival(plan)); }},
    Bug{.name = "missing_entry_wait",
        .summary = "A rank writes to a peer that has not entered the call yet.",
        .target = {"broadcast", "binomial"},
        .found_by = {.says = "unordered"},
        .edit_plan = [](const Case&, Plan& plan) { erase_first(plan, waits_for_entry(plan)); }},
    Bug{.name = "leaves_too_early",
        .summary = "Ranks leave, and may reuse their input, while peers still read it.",
        .target = {"reduce_scatter", "direct"},
        .found_by = {.says = "(leaving)"},
        .edit_plan = [](const Case&, Plan& plan) { erase_all(plan, waits_for_arrival(plan)); }},
    Bug{.name = "stale_slot",
        .summary = "All steps share one receive slot, so a fast neighbour overwrites data that is "
                   "still needed.",
        .target = {"reduce_scatter", "ring"},
        .found_by = {.says = "unordered"},
        .edit_plan =
            [](const Case&, Plan& plan) {
              change_ranges(plan, [&](Range& range) {
                const auto slot = plan.scratch[spec::to_size(range.rank)] / 2;
                if (range.buffer == Buffer::scratch && range.offset >= slot) range.offset -= slot;
              });
            }},
    Bug{.name = "waits_before_it_sends",
        .summary = "All ranks wait for a message before they send their own.",
        .target = {"send_recv", "direct"},
        .found_by = {.says = "never continues", .verdict = Verdict::hung},
        .edit_plan =
            [](const Case&, Plan& plan) {
              for (auto& steps : plan.steps) {
                std::stable_partition(steps.begin(), steps.end(), [&](const Step& step) {
                  return waits_for_arrival(plan)(0, step);
                });
              }
            }},
    Bug{.name = "empty_block_hangs",
        .summary =
            "A rank without elements returns at once, and its neighbours wait for it forever.",
        .target = {"all_gather_v", "ring"},
        .found_by = {.says = "never continues", .verdict = Verdict::hung},
        .edit_plan =
            [](const Case& c, Plan& plan) {
              erase_all(plan, [&](int rank, const Step& step) {
                return c.counts[spec::to_size(rank)] == 0 && step.kind == StepKind::signal;
              });
            }},
    Bug{.name = "barrier_without_wait",
        .summary = "Ranks report to rank 0 and leave without waiting for its answer.",
        .target = {"barrier", "central"},
        .found_by = {"separates_ranks", "may leave before every rank has entered"},
        .edit_plan =
            [](const Case&, Plan& plan) {
              erase_all(plan, [&](int rank, const Step& step) {
                return rank > 0 && step.kind == StepKind::wait;
              });
            }},
    Bug{.name = "barrier_one_round_short",
        .summary = "The number of rounds is floor instead of ceil of log2(n), so ranks hear from "
                   "only some others.",
        .target = {"barrier", "dissemination"},
        .found_by = {"separates_ranks", "may leave before every rank has entered"},
        .edit_plan = [](const Case&,
                        Plan& plan) { erase_last_of_several(plan, waits_for_arrival(plan)); }},
    Bug{.name = "double_count",
        .summary = "One rank's contribution is added twice.",
        .source = "nnabla#1120",
        .target = {"all_reduce", "direct"},
        .found_by = {.says = "twice"},
        .edit_plan =
            [](const Case&, Plan& plan) {
              change(plan, is_reduce, [&](Step& step, std::span<Range> sources) {
                std::vector<Range> all(sources.begin(), sources.end());
                all.push_back(all.back());
                step.first_source = static_cast<std::uint32_t>(plan.sources.size());
                step.source_count = static_cast<std::uint32_t>(all.size());
                plan.sources.insert(plan.sources.end(), all.begin(), all.end());
              });
            }},
    Bug{.name = "operands_swapped",
        .summary = "The first two ranks are combined in the wrong order. Only compose shows it.",
        .target = {"all_reduce", "one_shot"},
        .without = R"({"op":"sum"})",
        .hits = [](const Case& c) { return spec::is_always_exact(collective(c).op); },
        .edit_steps = {is_reduce,
                       [](const Case&, Step&, std::span<Range> sources) {
                         if (sources.size() > 1) std::swap(sources[0], sources[1]);
                       }}},
    Bug{.name = "missing_contribution",
        .summary = "The loop over the peers ends one peer too early.",
        .target = {"reduce", "direct"},
        .found_by = {.says = "missing"},
        .edit_steps = {is_reduce,
                       [](const Case&, Step& step, std::span<Range>) {
                         if (step.source_count > 1) --step.source_count;
                       }}},
    Bug{.name = "missing_child",
        .summary = "The root of the tree leaves out its last child.",
        .target = {"all_reduce", "binomial_tree"},
        .found_by = {"equals_reduce_then_broadcast", "the composition gives another result"},
        .edit_plan = [](const Case&, Plan& plan) { leave_out_last_of_sums(plan); }},
    Bug{.name = "dropped_remainder",
        .summary = "Each rank takes count / n elements, and the remainder is dropped.",
        .target = {"all_reduce", "direct"},
        .edit_case = [](Case& other) { other.count -= other.count % group_size(other); }},
    Bug{.name = "next_block",
        .summary = "Every rank reduces the block of the next rank.",
        .target = {"reduce_scatter", "direct"},
        .found_by = {"equals_reduce_then_scatter", "the composition gives another result"},
        // In place, the simulator reports a race first.
        .hits = [](const Case& c) { return !c.in_place; },
        .edit_steps = {is_reduce,
                       [](const Case& c, Step&, std::span<Range> sources) {
                         for (Range& source : sources) {
                           source.offset = (source.offset + c.count) % (c.count * group_size(c));
                         }
                       }}},
    Bug{.name = "shortest_block_for_all",
        .summary = "The operation with uneven blocks uses the smallest block size for all ranks.",
        .target = {"reduce_scatter_v", "direct"},
        .edit_case =
            [](Case& other) {
              auto& counts = other.counts;
              counts.assign(counts.size(), *std::min_element(counts.begin(), counts.end()));
            }},
    Bug{.name = "wrong_root",
        .summary = "The root is ignored, and rank 0 gets the result.",
        .source = "chainer#7289",
        .target = {"reduce", "binomial"},
        .found_by = {.says = "no part of the output, was written"},
        .edit_case = [](Case& other) { collective(other).root = 0; }},
    Bug{.name = "clobbered_input",
        .summary = "The root accumulates in its send buffer.",
        .target = {"reduce", "direct"},
        .found_by = {.says = "input changed"},
        .edit_plan =
            [](const Case& c, Plan& plan) {
              auto& steps = plan.steps[spec::to_size(collective(c).root)];
              const auto reduce = std::find_if(steps.begin(), steps.end(), [](const Step& step) {
                return step.kind == StepKind::reduce;
              });
              if (reduce == steps.end()) return;
              Step copy{.kind = StepKind::copy,
                        .event = {},
                        .destination = reduce->destination,
                        .first_source = static_cast<std::uint32_t>(plan.sources.size()),
                        .source_count = 1};
              reduce->destination.buffer = Buffer::send;
              plan.sources.push_back(reduce->destination);
              steps.insert(reduce + 1, copy);
            }},
    Bug{.name = "avg_is_sum",
        .summary = "avg returns the sum without dividing it.",
        .source = "rocm-systems#10322",
        .target = {"all_reduce", "direct"},
        .edit_steps = {moves,
                       [](const Case&, Step& step, std::span<Range>) { step.finish = false; }}},
    Bug{.name = "finished_twice",
        .summary = "The ring divides a finished result again each time it forwards it.",
        .target = {"all_reduce", "ring"},
        .found_by = {"ranks_agree_bitwise", "differs from rank 0"},
        .edit_steps = {is_put,
                       [](const Case&, Step& step, std::span<Range> sources) {
                         step.finish = sources.front().buffer == Buffer::recv;
                       }}},
    Bug{.name = "premul_forgotten_in_place",
        .summary = "In a call in place, a rank's own contribution is not multiplied by its scalar.",
        .target = {"all_reduce", "direct"},
        .found_by = {"in_place_equals_out_of_place", "in place differs from out of place"},
        .edit_steps = {is_reduce,
                       [](const Case& c, Step& step, std::span<Range> sources) {
                         for (Range& source : sources) {
                           const bool own = source.rank == step.destination.rank;
                           if (c.in_place && own) source.buffer = Buffer::recv;
                         }
                       }}},
    Bug{.name = "wrong_chunk",
        .summary = "Every rank sends the block of the next rank.",
        .target = {"all_to_all", "pairwise"},
        .found_by = {"is_an_involution", "the data did not come back unchanged"},
        .edit_steps = {is_put,
                       [](const Case& c, Step&, std::span<Range> sources) {
                         Range& source = sources.front();
                         source.offset = (source.offset + c.count) % (c.count * group_size(c));
                       }}},
    Bug{.name = "swapped_blocks",
        .summary = "Two ranks get each other's block.",
        .target = {"scatter", "direct"},
        .found_by = {.says = "element 1 of rank 0"},
        .edit_plan =
            [](const Case& c, Plan& plan) {
              change_ranges(plan, [&](Range& range) {
                const bool swaps = range.buffer == Buffer::send && range.offset < 2 * c.count;
                if (swaps && plan.ranks() > 1) range.offset = c.count - range.offset;
              });
            }},
    Bug{.name = "rank_order_permuted",
        .summary = "Blocks arrive in the order of the hardware's ring instead of the ranks.",
        .source = "nccl#1906",
        .target = {"all_gather", "direct"},
        .found_by = {"equals_gather_then_broadcast", "the composition gives another result"},
        // In place, the simulator reports a race first.
        .hits = [](const Case& c) { return !c.in_place; },
        .edit_plan =
            [](const Case& c, Plan& plan) {
              change_ranges(plan, [&](Range& range) {
                const bool swaps = range.buffer == Buffer::recv && range.offset < 2 * c.count;
                if (swaps && plan.ranks() > 1) range.offset = c.count - range.offset;
              });
            }},
    Bug{.name = "tree_order",
        .summary = "Blocks stay in the order of the tree, which starts at the root.",
        .target = {"gather", "direct"},
        .found_by = {"inverts_scatter", "the data did not come back unchanged"},
        .edit_plan =
            [](const Case& c, Plan& plan) {
              change_ranges(plan, [&](Range& range) {
                if (range.buffer != Buffer::recv) return;
                const std::int64_t size = c.count * plan.ranks();
                range.offset = (range.offset - collective(c).root * c.count + size) % size;
              });
            }},
    Bug{.name = "group_order_ignored",
        .summary = "Group members take part in the order of their world ranks instead of the "
                   "group's order.",
        .source = "nnabla, multi_process_data_parallel_communicator.cu",
        .target = {"all_gather", "ring"},
        .found_by = {"rank_permutation", "the reordered group gives another result"},
        .edit_plan = [](const Case& c, Plan& plan) { plan = plan_of_sorted_group(c, plan); }},
    Bug{.name = "shift_ignored",
        .summary = "Every rank sends to the next rank, whatever shift the call names.",
        .target = {"send_recv", "direct"},
        .found_by = {"returns_by_the_reverse", "the data did not come back unchanged"},
        .edit_case = [](Case& other) { collective(other).shift = 1; }},
    Bug{.name = "receiver_answers",
        .summary = "A rank that must only receive is treated as a partner that also sends.",
        .target = {"send_recv", "direct"},
        .found_by = {.says = "outside the buffer"},
        .hits = [](const Case& c) { return collective(c).pattern == spec::Pattern::one_way; },
        .edit_case = [](Case& other) { collective(other).pattern = spec::Pattern::pairs; }},
    Bug{.name = "transposed_counts",
        .summary = "The matrix of counts is read by columns instead of rows.",
        .target = {"all_to_all_v", "pairwise"},
        .found_by = {"returns_by_the_transpose", "outside the buffer"},
        .edit_case =
            [](Case& other) {
              const int n = group_size(other);
              for (int i = 0; i < n * n; ++i) {
                const int mirrored = i % n * n + i / n;
                if (i < mirrored) {
                  std::swap(other.counts[spec::to_size(i)], other.counts[spec::to_size(mirrored)]);
                }
              }
            }},
    Bug{.name = "displacements_ignored",
        .summary = "Blocks are assumed to be contiguous: displacements are ignored.",
        .target = {"scatter_v", "direct"},
        .edit_case = [](Case& other) { collective(other).gap = 0; }},
    Bug{.name = "in_place_wrong_block",
        .summary = "In a call in place, the root reads its own block from the start of recv.",
        .source = "Aluminum#74",
        .target = {"gather", "direct"},
        .found_by = {"in_place_equals_out_of_place", "of which a part was never written"},
        .edit_steps = {moves,
                       [](const Case& c, Step& step, std::span<Range> sources) {
                         const bool own = sources.front().rank == collective(c).root &&
                                          step.kind == StepKind::copy;
                         if (c.in_place && own)
                           sources.front() = {collective(c).root, Buffer::recv, 0, c.count};
                       }}},
    Bug{.name = "lost_put",
        .summary = "The loop over the ranks ends one rank too early.",
        .target = {"scatter", "direct"},
        .found_by = {.says = "not written"},
        .edit_plan = [](const Case&, Plan& plan) { erase_last(plan, is_put); }},
    Bug{.name = "lost_leaf",
        .summary = "The last leaf of the tree never sends its block.",
        .target = {"gather_v", "binomial"},
        .found_by = {"inverts_scatter", "the data did not come back unchanged"},
        // In larger trees, a rank that misses its leaf's data forwards memory that was never
        // written.
        .hits = [](const Case& c) { return harness::members(c).size() <= 3; },
        .edit_plan = [](const Case&, Plan& plan) { erase_last(plan, is_put); }},
    Bug{.name = "last_part_lost",
        .summary = "The ring that gathers the parts stops one step too early.",
        .target = {"broadcast", "scatter_all_gather"},
        .found_by = {"equals_scatter_then_all_gather", "the composition gives another result"},
        // With more ranks, some would forward data that they never received.
        .hits = [](const Case& c) { return group_size(c) == 3 && collective(c).root == 0; },
        .edit_plan = [](const Case&, Plan& plan) { erase_last(plan, is_put); }},
    Bug{.name = "last_pipeline_chunk_lost",
        .summary =
            "The pipeline is not drained, so the last of several chunks does not reach all ranks.",
        .target = {"broadcast", "chain"},
        .edit_plan = [](const Case&, Plan& plan) { erase_last_of_several(plan, is_put); }},
    Bug{.name = "write_past_end",
        .summary = "One element too many is copied.",
        .target = {"all_gather", "ring"},
        .found_by = {.says = "outside the buffer"},
        .edit_steps = {is_put,
                       [](const Case&, Step& step, std::span<Range> sources) {
                         ++step.destination.count;
                         ++sources.front().count;
                       }}},
    Bug{.name = "off_root_written",
        .summary = "The gather runs as an all_gather, so all ranks get the result.",
        .target = {"gather", "direct"},
        .found_by = {.says = "no part of the output, was written"},
        .edit_case =
            [](Case& other) {
              other.operation = "all_gather";
              collective(other).root = 0;
            }},
};

}  // namespace

void add_bugs_in_plans(std::vector<Bug>& out) {
  out.insert(out.end(), bugs_in_plans.begin(), bugs_in_plans.end());
}

}  // namespace rankcheck::cases::audit
