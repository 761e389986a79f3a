#include <algorithm>
#include <array>
#include <cstdint>

#include "reference/spec/to_size.hpp"

#include "cases/audit/catalogue.hpp"
#include "cases/audit/result_edits.hpp"
#include "cases/families/collectives/case.hpp"

namespace rankcheck::cases::audit {

namespace {

using harness::Case;
using harness::Verdict;

constexpr std::array bugs_in_results{
    Bug{.name = "guard_overwritten",
        .summary = "A vectorised store writes one byte past the end of the output.",
        .target = {"reduce_scatter", "ring"},
        .found_by = {.says = "past the end of recv"},
        .edit_result =
            [](const Outcome& outcome) {
              const harness::ImageLayout layout = layout_of(outcome, 0);
              const std::int64_t end = layout.recv + layout.recv_size;
              outcome.images()[0][spec::to_size(end)] ^= std::byte{1};
            }},
    Bug{.name = "gap_written",
        .summary = "Blocks are copied together with the unused elements after them.",
        .target = {"all_gather_v", "direct"},
        .found_by = {.says = "no part of the output, was written"},
        .hits = [](const Case& c) { return collective(c).gap > 0; },
        .edit_result = write_behind_blocks},
    Bug{.name = "misaligned_start_skipped",
        .summary = "A vectorised copy starts at the next aligned address and skips the elements "
                   "before it.",
        .target = {"broadcast", "chain"},
        .unwritten =
            [](const Outcome& outcome, int, std::int64_t index) {
              const std::int64_t skipped = (4 - outcome.c().offset % 4) % 4;
              return index < skipped;
            }},
    Bug{.name = "chunks_of_256_swapped",
        .summary =
            "Two chunks of 256 elements are swapped. Test data of period 256 cannot show it.",
        .source = "rccl, TestBed",
        .target = {"broadcast", "binomial"},
        .found_by = {.says = "element 256 of rank 0"},
        .elements_max = 512,
        .without = R"({"count":64})",
        .hits = [](const Case& c) { return c.count >= 512; },
        .edit_element =
            [](const Outcome& outcome, int, std::int64_t index, std::byte* element) {
              const std::int64_t size = std::int64_t{256} * spec::info(outcome.c().type).bytes;
              if (index == 0) std::swap_ranges(element, element + size, element + size);
            }},
    Bug{.name = "tail_behind_64_kib_lost",
        .summary = "What lies behind the first 64 KiB of a buffer is not sent.",
        .target = {"broadcast", "chain"},
        .ranks_max = 2,
        .elements_max = (64 << 10) + 1,
        .cases_min = 40000,
        .without = R"({"count":64})",
        .edit_result =
            [](const Outcome& outcome) {
              constexpr std::int64_t sent = 64 << 10;
              for (int r = 0; r < group_size(outcome.c()); ++r) {
                const harness::ImageLayout layout = layout_of(outcome, r);
                if (r == collective(outcome.c()).root || layout.recv_size <= sent) continue;
                std::byte* const tail =
                    outcome.images()[spec::to_size(r)].data() + layout.recv + sent;
                leave_unwritten(outcome, r, tail, layout.recv_size - sent);
              }
            }},
    Bug{.name = "stale_result",
        .summary =
            "Results are cached by size, so a call returns the result of the call before it.",
        .target = {"reduce", "binomial"},
        .found_by = {"is_linear", "differs from 2 f(a) + f(b)"},
        .edit_result =
            [](const Outcome& outcome) {
              const std::vector<harness::Image> result = outcome.images();
              if (outcome.kept.size() == result.size()) take_outputs(outcome, outcome.kept);
              outcome.kept = result;
            }},
    Bug{.name = "low_bit_flipped",
        .summary = "One rank's result differs from the other ranks' in the last bit.",
        .target = {"all_reduce", "ring"},
        .found_by = {"ranks_agree_bitwise", "differs from rank 0"},
        .edit_result = [](const Outcome& outcome) { flip_first(outcome, 1); }},
    Bug{.name = "differs_in_place",
        .summary = "A call in place adds in another order.",
        .target = {"all_reduce", "binomial_tree"},
        .found_by = {"in_place_equals_out_of_place", "in place differs from out of place"},
        .hits = [](const Case& c) { return c.in_place; },
        .edit_result = flip_first_of_all},
    Bug{.name = "depends_on_group_order",
        .summary = "The result is correct only if the group's order is ascending or descending.",
        .target = {"reduce_scatter", "recursive_halving"},
        .found_by = {"rank_permutation", "the reordered group gives another result"},
        .hits =
            [](const Case& c) {
              return !std::is_sorted(c.group.begin(), c.group.end()) &&
                     !std::is_sorted(c.group.rbegin(), c.group.rend());
            },
        .edit_result = flip_first_of_all},
    Bug{.name = "whole_differs_from_parts",
        .summary = "The tail of a buffer of several elements takes another code path.",
        .target = {"scatter", "binomial"},
        .found_by = {"splits", "the whole differs from its back part"},
        .hits = [](const Case& c) { return c.count > 1; },
        .edit_result = flip_last_of_all},
    Bug{.name = "second_run_differs",
        .summary = "State that a call leaves behind changes the next call.",
        .target = {"all_gather", "bruck"},
        .found_by = {"is_deterministic", "the second run differs from the first"},
        .edit_result =
            [](const Outcome& outcome) {
              if (outcome.stage > 0) flip_first(outcome, 0);
            }},
    Bug{.name = "results_of_the_call_before",
        .summary = "A call with the shape of an earlier call returns the earlier results.",
        .target = {"broadcast", "binomial"},
        .found_by = {"repeats_with_other_data", "result of call 1"},
        .without = R"({"repeat":1})",
        .edit_result =
            [](const Outcome& outcome) {
              take_outputs(outcome, outcome.observation.stages.front().images);
            }},
    Bug{.name = "communicator_of_the_group_before",
        .summary = "Communicators are cached by size, so a call runs in the communicator of "
                   "another group.",
        .target = {"scatter_v", "direct"},
        .found_by = {"keeps_groups_apart"},
        .edit_result =
            [](const Outcome& outcome) {
              const Case& first = outcome.stages.front();
              const Case& c = outcome.c();
              if (c.operation != first.operation || members(c) == members(first)) return;
              flip_first_of_all(outcome);
            }},
    Bug{.name = "sometimes_wrong",
        .summary = "Every third run gives a wrong result.",
        .target = {"all_to_all", "bruck"},
        .found_by = {.says = "replays", .verdict = Verdict::flaky},
        .ranks_max = 8,
        .elements_max = 4096,
        .edit_result =
            [](const Outcome& outcome) {
              if (outcome.runs % 3 == 2) flip_first(outcome, 0);
            }},
    Bug{.name = "crash",
        .summary = "A call with more than one element crashes the process.",
        .target = {"send_recv", "direct"},
        .found_by = {.says = "signal 11", .verdict = Verdict::crashed},
        .hits = [](const Case& c) { return c.count > 1; },
        .edit_result =
            [](const Outcome& outcome) {
              outcome.observation.status = harness::RunStatus::crashed;
              outcome.observation.reason = "rank 0 was ended by signal 11";
            }},
    Bug{.name = "silent_fallback",
        .summary = "Another algorithm runs instead of the requested one.",
        .target = {"all_gather", "ring"},
        .found_by = {.says = "asked for algorithm ring, ran direct"},
        .without = R"({"algorithm":"direct"})",
        .edit_result =
            [](const Outcome& outcome) { outcome.observation.path[outcome.stage] = "direct"; }},
    Bug{.name = "barrier_returns_early",
        .summary = "Rank 0 leaves before the last rank has entered.",
        .target = {"barrier", "dissemination"},
        .found_by = {"separates_ranks", "rank 0 left before rank"},
        .edit_result =
            [](const Outcome& outcome) {
              auto& stamps = outcome.observation.stages[outcome.stage].stamps;
              if (stamps.size() > 1) stamps.front().left = stamps.back().entered - 1;
            }},
};

}  // namespace

void add_bugs_in_results(std::vector<Bug>& out) {
  out.insert(out.end(), bugs_in_results.begin(), bugs_in_results.end());
}

}  // namespace rankcheck::cases::audit
