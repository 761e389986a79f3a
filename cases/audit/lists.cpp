#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "reference/spec/to_size.hpp"

#include "gpu/plan/patterns/list.hpp"

#include "cases/audit/catalogue.hpp"
#include "cases/audit/plan_edits.hpp"
#include "cases/audit/result_edits.hpp"
#include "cases/families/collectives/case.hpp"

/// Bugs of operations on lists of arrays.
namespace rankcheck::cases::audit {

namespace {

using harness::Case;
using harness::Verdict;

std::int64_t elements_of_list(const Case& c) {
  return std::accumulate(c.counts.begin(), c.counts.end(), std::int64_t{0});
}

/// The elements of a pack in the algorithm `buckets`.
std::int64_t pack_of(const Case& c) {
  return gpu::plan::elements_of_bucket(elements_of_list(c), c.chunk);
}

bool has_several_packs(const Case& c) {
  return elements_of_list(c) > pack_of(c);
}

/// The place of an element in its list without gaps. `offset` is its place in the buffer.
std::int64_t place_in_list(const Case& c, std::int64_t offset) {
  std::int64_t start = 0;
  std::int64_t before = 0;
  for (const std::int64_t count : c.counts) {
    if (offset < start + count) return before + offset - start;
    start += count + collective(c).gap;
    before += count;
  }
  return before;
}

/// Whether a step copies from a pack to the result.
bool unpacks(int rank, const Step& step) {
  return moves(rank, step) && step.kind == StepKind::copy &&
         step.destination.buffer == Buffer::recv;
}

/// Whether an element of this offset begins an array.
bool begins_array(const Case& c, std::int64_t offset) {
  std::int64_t start = 0;
  for (const std::int64_t count : c.counts) {
    if (count > 0 && offset == start) return true;
    start += count + collective(c).gap;
  }
  return false;
}

/// The place of a world rank in the group; -1 if it is no member.
int position(const std::vector<int>& group, int world_rank) {
  const auto found = std::find(group.begin(), group.end(), world_rank);
  return found == group.end() ? -1 : static_cast<int>(found - group.begin());
}

constexpr std::array lists{
    Bug{.name = "last_pack_not_flushed",
        .summary =
            "A pack is sent when it is full, and the last pack, which is not full, never is.",
        .target = {"all_reduce_list", "buckets"},
        // Fewer elements fill the packs that the algorithm chooses.
        .elements_max = 7,
        .hits = [](const Case& c) { return elements_of_list(c) % pack_of(c) != 0; },
        .edit_plan =
            [](const Case& c, Plan& plan) {
              const std::int64_t flushed = elements_of_list(c) / pack_of(c) * pack_of(c);
              erase_all(plan, [&](int rank, const Step& step) {
                return unpacks(rank, step) && place_in_list(c, step.destination.offset) >= flushed;
              });
            }},
    Bug{.name = "element_lost_between_packs",
        .summary = "An array that goes on in the next pack loses its first element there.",
        .target = {"all_reduce_list", "buckets"},
        .found_by = {"is_independent_of_packing", "depends on how the list is packed"},
        .hits = has_several_packs,
        .edit_plan =
            [](const Case& c, Plan& plan) {
              change(
                  plan,
                  [&](int rank, const Step& step) {
                    return unpacks(rank, step) && !begins_array(c, step.destination.offset);
                  },
                  [](Step& step, std::span<Range> sources) {
                    ++step.destination.offset;
                    --step.destination.count;
                    for (Range& source : sources) {
                      ++source.offset;
                      --source.count;
                    }
                  });
            }},
    Bug{.name = "unpacked_in_reverse",
        .summary = "Arrays are taken from the pack in another order than they were put into it.",
        .target = {"broadcast_list", "packed"},
        .found_by = {"equals_calls_one_by_one", "differs from the call for one array"},
        .edit_steps = {unpacks,
                       [](const Case& c, Step& step, std::span<Range> sources) {
                         const std::int64_t before = place_in_list(c, step.destination.offset);
                         const std::int64_t behind =
                             elements_of_list(c) - before - step.destination.count;
                         for (Range& source : sources) source.offset += behind - before;
                       }}},
    Bug{.name = "divided_once_per_pack",
        .summary = "The first pack is divided by the number of ranks twice: alone, and again when "
                   "the second pack is.",
        .target = {"all_reduce_list", "buckets"},
        .hits =
            [](const Case& c) {
              return collective(c).op == spec::ReduceOp::avg && has_several_packs(c);
            },
        .edit_plan =
            [](const Case& c, Plan& plan) {
              change(
                  plan,
                  [&](int rank, const Step& step) {
                    return unpacks(rank, step) &&
                           place_in_list(c, step.destination.offset) < pack_of(c);
                  },
                  [](Step& step, std::span<Range>) { step.finish = true; });
            }},
    Bug{.name = "arrays_of_one_element_left_out",
        .summary = "Arrays of one element are taken for numbers, which need no reduction.",
        .source = "FluxMPI, synchronize!",
        .target = {"all_reduce_list", "one_by_one"},
        .hits = [](const Case& c) { return std::count(c.counts.begin(), c.counts.end(), 1) > 0; },
        .edit_result =
            [](const Outcome& outcome) {
              const std::int64_t bytes = spec::info(outcome.c().type).bytes;
              for (int r = 0; r < group_size(outcome.c()); ++r) {
                const harness::ImageLayout layout = layout_of(outcome, r);
                std::byte* const recv = outcome.images()[spec::to_size(r)].data() + layout.recv;
                for (const spec::Block& array : layout.extents.recv) {
                  if (array.count == 1)
                    leave_unwritten(outcome, r, recv + array.offset * bytes, bytes);
                }
              }
            }},
    Bug{.name = "root_of_the_world",
        .summary = "The root is taken for a rank of the world, not of the group.",
        .source = "nnabla, groups",
        .target = {"reduce_list", "packed"},
        .found_by = {.says = "no part of the output, was written"},
        .hits =
            [](const Case& c) {
              const int as_world_rank = position(c.group, collective(c).root);
              return as_world_rank >= 0 && as_world_rank != collective(c).root;
            },
        .edit_case =
            [](Case& other) {
              collective(other).root = position(other.group, collective(other).root);
            }},
    Bug{.name = "request_not_waited_for",
        .summary = "The calls of all arrays are in flight, and the last one is not waited for.",
        .target = {"reduce_list", "one_by_one"},
        // The schedule of the smallest case decides what the monitor sees first.
        .found_by = {.says = "scratch["},
        .edit_plan = [](const Case&, Plan& plan) { erase_last(plan, waits_for_arrival(plan)); }},
};

}  // namespace

void add_bugs_in_lists(std::vector<Bug>& out) {
  out.insert(out.end(), lists.begin(), lists.end());
}

}  // namespace rankcheck::cases::audit
