#include <array>
#include <bit>
#include <vector>

#include "gpu/plan/patterns/place.hpp"
#include "gpu/plan/patterns/reduce_scatter.hpp"

#include "cases/audit/catalogue.hpp"

namespace rankcheck::cases::audit {

namespace {

using gpu::plan::Builder;
using gpu::plan::Range;
using harness::Verdict;

/// Rank `from` sends its result to all ranks from `first` on, except itself. They wait for the
/// result.
void hand_out(Builder& builder, int from, int first) {
  for (int r = first; r < builder.ranks(); ++r) {
    if (r != from) builder.wait(r, builder.send_to(builder.recv(r), builder.recv(from)));
  }
}

/// Only the first ranks contribute, as many as the largest power of two that is not above the
/// number of ranks.
void reduce_power_of_two(Builder& builder) {
  const int taking_part = static_cast<int>(std::bit_floor(static_cast<unsigned>(builder.ranks())));
  std::vector<Range> sources;
  for (int r = 0; r < taking_part; ++r) sources.push_back(builder.send(r));
  builder.reduce(builder.recv(0), sources, true);
  hand_out(builder, 0, 1);
}

/// Correct, but each rank receives messages in its output buffer. A message that arrives twice
/// overwrites the result.
void reduce_along_chain(Builder& builder) {
  const int last = builder.ranks() - 1;
  for (int r = 0; r <= last; ++r) {
    if (r == 0) {
      builder.copy(builder.recv(0), builder.send(0), last == 0);
    } else {
      builder.reduce(builder.recv(r), {builder.recv(r), builder.send(r)}, r == last);
    }
    if (r < last) {
      builder.wait(r + 1, builder.send_to(builder.recv(r + 1), builder.recv(r)));
    }
  }
  hand_out(builder, last, 0);
}

constexpr std::array machines{
    Bug{.name = "powers_of_two_only",
        .summary =
            "Ranks beyond the largest power of two receive the result but do not contribute.",
        .target = {"all_reduce", "powers_of_two_only"},
        .found_by = {"equals_reduce_scatter_then_all_gather",
                     "the composition gives another result"},
        .without = R"({"algorithm":"ring"})",
        .plan = reduce_power_of_two},
    Bug{.name = "flipped_bit",
        .summary = "A bit flips in the memory of a device.",
        .target = {"send_recv", "direct"},
        .fault = "flip:0"},
    Bug{.name = "lost_message",
        .summary = "The network loses a message but reports that it was delivered.",
        .target = {"all_gather", "ring"},
        .found_by = {.says = "not written"},
        .fault = "lost:0"},
    Bug{.name = "duplicate_message",
        .summary = "The network delivers a message twice. The second delivery overwrites memory "
                   "that is in use again.",
        .target = {"all_reduce", "chain_of_inboxes"},
        .found_by = {.says = "missing"},
        .fault = "duplicate:0",
        .plan = reduce_along_chain},
    Bug{.name = "late_message",
        .summary = "The network announces a message before it delivers the data.",
        .target = {"all_reduce", "ring"},
        .fault = "late:0"},
    Bug{.name = "stale_message",
        .summary = "A message is read from a cache line that was filled before the call.",
        .target = {"all_gather", "direct"},
        .found_by = {.says = "before the call"},
        .fault = "stale:0"},
    Bug{.name = "overrun",
        .summary = "A message is written beyond the end of its buffer.",
        .target = {"all_reduce", "binomial_tree"},
        .found_by = {.says = "a guard zone beside the scratch"},
        .fault = "overrun:0"},
    Bug{.name = "dead_rank",
        .summary = "A rank stops in the middle of a call.",
        .target = {"all_to_all_v", "pairwise"},
        .found_by = {.says = "never continues", .verdict = Verdict::hung},
        .fault = "dead_rank:2"},
};

}  // namespace

void add_bugs_in_machines(std::vector<Bug>& out) {
  out.insert(out.end(), machines.begin(), machines.end());
}

}  // namespace rankcheck::cases::audit
