#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/spec/to_size.hpp"

#include "cases/audit/catalogue.hpp"
#include "cases/audit/plan_edits.hpp"
#include "cases/audit/result_edits.hpp"
#include "cases/families/collectives/case.hpp"
#include "cases/families/collectives/inputs.hpp"

/// Bugs that behave as defects that shipped libraries had: they show under the same condition, with
/// the same wrong result. `source` names the report.
namespace rankcheck::cases::audit {

namespace {

using harness::Case;
using spec::ReduceOp;
using spec::Type;

bool is_power_of_two(int n) {
  return (n & (n - 1)) == 0;
}

/// Lets each rank add the contributions in an order that begins with its own.
void begin_with_the_own_contribution(const Case&, Plan& plan) {
  change(plan, is_reduce, [](Step& step, std::span<Range> sources) {
    const auto own = std::find_if(sources.begin(), sources.end(), [&](const Range& source) {
      return source.rank == step.destination.rank;
    });
    std::rotate(sources.begin(), own, sources.end());
  });
}

constexpr std::int64_t tail_begin = 4096;

/// Gives the elements behind the first 4,096 the values of the first rank's input.
void leave_tail_unscaled(const Outcome& outcome) {
  const Case& c = outcome.c();
  if (c.count <= tail_begin) return;
  const std::int64_t bytes = spec::info(c.type).bytes;
  const harness::ImageLayout layout = layout_of(outcome, 0);
  harness::Image input(spec::to_size(c.count * bytes));
  fill_block(c, members(c).front(), 0, layout.extents.send.front(), input.data());
  std::copy_n(input.data() + tail_begin * bytes,
              (c.count - tail_begin) * bytes,
              outcome.images().front().data() + layout.recv + tail_begin * bytes);
}

constexpr std::int64_t piece_elements = std::int64_t{4} << 20;

/// Elements of one block. Two of them are more than 2^31 bytes of f64.
constexpr std::int64_t huge_count = (std::int64_t{1} << 27) + 9;
constexpr std::int64_t int_bytes = std::int64_t{1} << 31;

/// Spoils the elements of each rank's output from this byte of its recv buffer on.
void spoil_from(const Outcome& outcome, std::int64_t (*begin_of)(int rank)) {
  for (int r = 0; r < group_size(outcome.c()); ++r) {
    const harness::ImageLayout layout = layout_of(outcome, r);
    harness::Image& image = outcome.images()[spec::to_size(r)];
    for (std::int64_t at = std::max<std::int64_t>(0, begin_of(r)); at < layout.recv_size; ++at)
      image[spec::to_size(layout.recv + at)] ^= std::byte{1};
  }
}

constexpr std::array of_huge_buffers{
    Bug{.name = "offset_of_a_block_overflows",
        .summary = "The bytes before an element are an int, which overflows behind 2^31 bytes.",
        .source = "ucc#944",
        .target = {"all_to_all", "pairwise"},
        .ranks_max = 2,
        .elements_max = huge_count,
        .count = huge_count,
        .type = Type::f64,
        .edit_result =
            [](const Outcome& outcome) { spoil_from(outcome, [](int) { return int_bytes; }); }},
    Bug{.name = "count_times_extent_overflows",
        .summary = "The bytes of the whole input are an int, so what lies behind 2^31 bytes of it "
                   "is not reduced.",
        .source = "ompi 944a3603d7",
        .target = {"reduce_scatter", "ring"},
        .ranks_max = 2,
        .elements_max = huge_count,
        .count = huge_count,
        .type = Type::f64,
        .edit_result =
            [](const Outcome& outcome) {
              spoil_from(outcome, [](int rank) { return int_bytes - rank * huge_count * 8; });
            }},
};

constexpr std::array of_libraries{
    Bug{.name = "root_input_dropped",
        .summary = "The sum that is scattered leaves out the input of the root of the reduction.",
        .source = "torchcomms#477",
        .target = {"reduce_scatter_v", "direct"},
        .found_by = {.says = "missing"},
        .edit_steps = {is_reduce,
                       [](const Case&, Step& step, std::span<Range> sources) {
                         if (step.source_count < 2 || sources.front().rank != 0) return;
                         ++step.first_source;
                         --step.source_count;
                       }}},
    Bug{.name = "off_root_input_overwritten",
        .summary = "The ranks on the way to the root add up in their own inputs.",
        .source = "pytorch#21480",
        .target = {"reduce", "binomial"},
        .found_by = {.says = "input changed"},
        .without = R"({"algorithm":"direct"})",
        .edit_result =
            [](const Outcome& outcome) {
              const Case& c = outcome.c();
              if (c.count == 0 || c.in_place) return;
              for (int r = 0; r < group_size(c); ++r) {
                if (r == collective(c).root) continue;
                const harness::ImageLayout layout = layout_of(outcome, r);
                outcome.images()[spec::to_size(r)][spec::to_size(layout.send)] ^= std::byte{1};
              }
            }},
    Bug{.name = "gap_written_in_place",
        .summary =
            "In place, each block is exchanged through a temporary copy, which is copied back "
            "with the gap behind it.",
        .source = "ompi#9329",
        .target = {"all_to_all_v", "pairwise"},
        .found_by = {.says = "no part of the output, was written"},
        .hits = [](const Case& c) { return c.in_place && collective(c).gap > 0; },
        .edit_result = write_behind_blocks},
    Bug{.name = "avg_divides_by_elements",
        .summary = "The mean divides by the number of elements instead of the number of ranks.",
        .source = "torchcomms#287",
        .target = {"all_reduce", "ring"},
        .hits = [](const Case& c) { return collective(c).op == ReduceOp::avg && c.count > 0; },
        .edit_result =
            [](const Outcome& outcome) {
              const auto ranks = static_cast<double>(group_size(outcome.c()));
              const auto count = static_cast<double>(outcome.c().count);
              map_values(outcome, [&](double value) { return value * ranks / count; });
            }},
    Bug{.name = "each_rank_begins_with_itself",
        .summary = "Each rank adds in an order of its own, so sums of floats differ between ranks.",
        .source = "ucc#1145",
        .target = {"all_reduce", "one_shot"},
        .found_by = {"ranks_agree_bitwise", "differs from rank 0"},
        .edit_plan = begin_with_the_own_contribution},
    Bug{.name = "order_differs_beyond_powers_of_two",
        .summary = "Ranks beyond the largest power of two add in another order than the others.",
        .source = "mpich ba1b4dd1e5",
        .target = {"all_reduce", "one_shot"},
        .found_by = {"ranks_agree_bitwise", "differs from rank 0"},
        .hits = [](const Case& c) { return !is_power_of_two(group_size(c)); },
        .edit_plan = begin_with_the_own_contribution},
    Bug{.name = "small_sums_at_eight_ranks",
        .summary = "The protocol for small messages reads a flag of the message before it, if "
                   "eight devices belong to one process.",
        .source = "rccl PR#1296",
        .target = {"all_reduce", "direct"},
        .ranks_max = 8,
        .hits = [](const Case& c) { return group_size(c) == 8 && c.count <= 256; },
        .edit_result = flip_last_of_all},
    Bug{.name = "bf16_summed_as_f16",
        .summary = "The kernel exists only for f16, and numbers of the type bf16 are read as f16.",
        .source = "mscclpp PR#618",
        .target = {"all_reduce", "recursive_halving_doubling"},
        .hits = [](const Case& c) { return c.type == Type::bf16; },
        .edit_result = [](const Outcome& outcome) { reduce_again(outcome, {.type = Type::f16}); }},
    Bug{.name = "barrier_open_at_six_ranks",
        .summary = "At six ranks, the table of partners lacks those of the last round.",
        .source = "torchcomms#3213",
        .target = {"barrier", "dissemination"},
        .found_by = {"separates_ranks", "may leave before every rank has entered"},
        .ranks_max = 6,
        .hits = [](const Case& c) { return group_size(c) == 6; },
        .edit_plan = [](const Case&,
                        Plan& plan) { erase_last_of_several(plan, waits_for_arrival(plan)); }},
    Bug{.name = "in_place_from_four_ranks_on",
        .summary = "From four ranks on, a sum in place loses the contribution of the first rank.",
        .source = "ompi#9385",
        .target = {"all_reduce", "direct"},
        .ranks_max = 4,
        .hits =
            [](const Case& c) {
              return c.in_place && group_size(c) >= 4 && collective(c).op == ReduceOp::sum;
            },
        .fold =
            [](const std::vector<double>& inputs) {
              double sum = 0;
              for (std::size_t i = 1; i < inputs.size(); ++i) sum += inputs[i];
              return sum;
            }},
    Bug{.name = "displacements_ignored_in_place",
        .summary = "A call in place assumes that the blocks are contiguous.",
        .source = "ompi PR#9668",
        .target = {"all_to_all_v", "pairwise"},
        .found_by = {.says = "which is no part of the output"},
        .without = R"({"in_place":false})",
        .hits = [](const Case& c) { return c.in_place; },
        .edit_case = [](Case& other) { collective(other).gap = 0; }},
    Bug{.name = "tail_left_unscaled",
        .summary = "On one rank, the elements behind the first 4,096 are not multiplied.",
        .source = "nccl#1950",
        .target = {"all_reduce", "direct"},
        .ranks_max = 1,
        .elements_max = tail_begin + 1,
        .cases_min = 100000,
        .without = R"({"count":64})",
        .hits =
            [](const Case& c) {
              return group_size(c) == 1 && collective(c).op == ReduceOp::premul_sum;
            },
        .edit_result = leave_tail_unscaled},
    Bug{.name = "tail_behind_4_mib_lost",
        .summary = "Blocks travel in pieces of 4 MiB, and the first rank gets only one piece.",
        .source = "jax#40830",
        .target = {"reduce_scatter", "ring"},
        .ranks_max = 2,
        .elements_max = piece_elements + 1,
        .count = piece_elements + 1,
        .hits = [](const Case& c) { return group_size(c) > 1; },
        .unwritten = [](const Outcome&,
                        int rank,
                        std::int64_t index) { return rank == 0 && index >= piece_elements; }},
    Bug{.name = "lone_rank_left_out",
        .summary = "A reduction over one rank returns before it has copied the rank's input.",
        .source = "accl#58",
        .target = {"reduce", "direct"},
        .ranks_max = 1,
        .hits = [](const Case& c) { return group_size(c) == 1; },
        .unwritten = [](const Outcome&, int, std::int64_t) { return true; }},
    Bug{.name = "unequal_group_not_launched",
        .summary = "Several communicators call together. If their plans have unequal lengths, the "
                   "plan of the last one is not launched.",
        .source = "nccl PR#1217",
        .target = {"all_gather", "direct"},
        .found_by = {"groups_at_once"},
        .edit_groups =
            [](std::span<const Case> stages, Plan& merged) {
              if (group_size(stages.front()) == group_size(stages.back())) return;
              const int last = static_cast<int>(stages.size()) - 1;
              for (std::size_t r = 0; r < merged.steps.size(); ++r) {
                if (merged.groups[r] == last) merged.steps[r].clear();
              }
            }},
};

}  // namespace

void add_published_bugs(std::vector<Bug>& out) {
  out.insert(out.end(), of_libraries.begin(), of_libraries.end());
}

std::vector<Bug> huge_bugs() {
  return {of_huge_buffers.begin(), of_huge_buffers.end()};
}

}  // namespace rankcheck::cases::audit
