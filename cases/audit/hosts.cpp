#include "harness/case/hosts.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/spec/to_size.hpp"

#include "cases/audit/catalogue.hpp"
#include "cases/audit/plan_edits.hpp"
#include "cases/audit/result_edits.hpp"
#include "cases/families/collectives/case.hpp"
#include "cases/families/collectives/inputs.hpp"

/// Bugs of libraries that work in steps: within each host, and between the hosts.
namespace rankcheck::cases::audit {

namespace {

using harness::Case;
using harness::hosts_of_members;

bool has_several_hosts(const Case& c) {
  const std::vector<int> hosts = hosts_of_members(c);
  return std::set(hosts.begin(), hosts.end()).size() > 1;
}

/// Whether the members of some host do not stand one behind another.
bool has_scattered_host(const Case& c) {
  const std::vector<int> hosts = hosts_of_members(c);
  std::set<int> left;
  for (std::size_t i = 1; i < hosts.size(); ++i) {
    if (hosts[i] != hosts[i - 1]) left.insert(hosts[i - 1]);
    if (left.contains(hosts[i])) return true;
  }
  return false;
}

/// Whether no member before this one is on its host. `hosts` has the host of each member.
bool is_first_of_host(const std::vector<int>& hosts, int member) {
  const auto at = hosts.begin() + member;
  return std::find(hosts.begin(), at, *at) == at;
}

/// The number of members on the host of this member.
std::ptrdiff_t members_beside(const Case& c, int member) {
  const std::vector<int> hosts = hosts_of_members(c);
  return std::count(hosts.begin(), hosts.end(), hosts[spec::to_size(member)]);
}

/// The members in the order of their hosts.
std::vector<int> in_order_of_hosts(const Case& c) {
  const std::vector<int> hosts = hosts_of_members(c);
  std::vector<int> order(hosts.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return hosts[spec::to_size(a)] < hosts[spec::to_size(b)];
  });
  return order;
}

/// Gives the blocks of the first call that come from other hosts the data of the second call.
void send_what_the_next_call_wrote(const Outcome& outcome) {
  const std::span<const Case> stages = outcome.stages;
  if (outcome.stage != 0 || stages.size() < 2 || !is_repeated(stages[0], stages[1])) return;
  const Case& c = outcome.c();
  const std::vector<int> hosts = hosts_of_members(c);
  const std::vector<int> group = members(c);
  const int n = group_size(c);
  for (int r = 0; r < n; ++r) {
    const harness::ImageLayout layout = layout_of(outcome, r);
    std::byte* const recv = outcome.images()[spec::to_size(r)].data() + layout.recv;
    for (int q = 0; q < n; ++q) {
      if (hosts[spec::to_size(q)] == hosts[spec::to_size(r)]) continue;
      const harness::ImageLayout from = layout_of(outcome, q);
      fill_block(stages[1],
                 group[spec::to_size(q)],
                 r,
                 from.extents.send[spec::to_size(r)],
                 recv + layout.extents.recv[spec::to_size(q)].offset * spec::info(c.type).bytes);
    }
  }
}

/// Selects the waits for what a rank of another host has done. `hosts` has the host of each member.
StepFilter waits_for_another_host(std::vector<int> hosts, const Plan& plan) {
  std::map<std::int32_t, int> host_of_event;
  for (int rank = 0; rank < plan.ranks(); ++rank) {
    for (const Step& step : plan.steps[spec::to_size(rank)]) {
      if (step.kind == StepKind::signal) {
        host_of_event[step.event.id] = hosts[spec::to_size(rank)];
      }
    }
  }
  return [hosts = std::move(hosts), host_of_event](int rank, const Step& step) {
    if (step.kind != StepKind::wait) return false;
    const auto found = host_of_event.find(step.event.id);
    return found != host_of_event.end() && found->second != hosts[spec::to_size(rank)];
  };
}

constexpr std::string_view on_one_host = R"({"hosts":[]})";

constexpr std::array of_hosts{
    Bug{.name = "last_host_left_out",
        .summary = "The leader of all hosts leaves out what the last of them has sent.",
        .target = {"all_reduce", "by_host"},
        .found_by = {.says = "missing"},
        .without = on_one_host,
        .hits = has_several_hosts,
        .edit_plan = [](const Case&, Plan& plan) { leave_out_last_of_sums(plan); }},
    Bug{.name = "host_served_too_early",
        .summary = "The leader of a host passes on the blocks of its host without waiting for "
                   "those of the other hosts.",
        .target = {"all_gather", "by_host"},
        .found_by = {.says = "unordered"},
        .without = on_one_host,
        .hits = has_several_hosts,
        .edit_plan =
            [](const Case& c, Plan& plan) {
              erase_all(plan, waits_for_another_host(hosts_of_members(c), plan));
            }},
    Bug{.name = "wrong_count_within_a_host",
        .summary = "The root's count goes to the first rank of each host, which passes on one "
                   "element too few within its host.",
        .source = "ompi#12383",
        .target = {"scatter", "direct"},
        .without = on_one_host,
        .hits = has_several_hosts,
        .unwritten =
            [](const Outcome& outcome, int rank, std::int64_t index) {
              const Case& c = outcome.c();
              const std::vector<int> hosts = hosts_of_members(c);
              return !is_first_of_host(hosts, rank) && index == c.count - 1;
            }},
    Bug{.name = "input_read_after_the_call",
        .summary = "The step between hosts still reads the input when the call has returned, so it "
                   "sends what the next call has written there.",
        .source = "ompi PR#13115",
        .target = {"all_to_all", "pairwise"},
        .found_by = {repeating_property},
        .without = on_one_host,
        .hits = has_several_hosts,
        .edit_result = send_what_the_next_call_wrote},
    Bug{.name = "alone_on_its_host",
        .summary = "The step within a host also copies the data to the result. A rank that is "
                   "alone on its host has no such step.",
        .target = {"broadcast", "binomial"},
        .without = on_one_host,
        .hits = has_several_hosts,
        .unwritten =
            [](const Outcome& outcome, int rank, std::int64_t) {
              const Case& c = outcome.c();
              return rank != collective(c).root && members_beside(c, rank) == 1;
            }},
    Bug{.name = "blocks_in_the_order_of_hosts",
        .summary = "The blocks of a host are gathered together, and nobody puts them into the "
                   "order of the ranks if the ranks of a host are not neighbours.",
        .target = {"all_gather", "ring"},
        .without = on_one_host,
        .hits = has_scattered_host,
        .edit_result =
            [](const Outcome& outcome) {
              const Case& c = outcome.c();
              const std::vector<int> order = in_order_of_hosts(c);
              const auto bytes = spec::to_size(c.count * spec::info(c.type).bytes);
              for (int r = 0; r < group_size(c); ++r) {
                const harness::ImageLayout layout = layout_of(outcome, r);
                std::byte* const recv = outcome.images()[spec::to_size(r)].data() + layout.recv;
                std::vector<std::byte> right;
                for (const spec::Block& block : layout.extents.recv) {
                  const std::byte* const from = recv + block.offset * spec::info(c.type).bytes;
                  right.insert(right.end(), from, from + bytes);
                }
                for (std::size_t k = 0; k < order.size(); ++k) {
                  const spec::Block& block = layout.extents.recv[k];
                  std::copy_n(right.data() + spec::to_size(order[k]) * bytes,
                              bytes,
                              recv + block.offset * spec::info(c.type).bytes);
                }
              }
            }},
    Bug{.name = "hosts_added_by_their_first_rank_only",
        .summary = "The ranks that lead their hosts add up their own inputs instead of the sums of "
                   "their hosts.",
        .target = {"all_reduce", "one_shot"},
        .found_by = {.says = "missing"},
        .without = on_one_host,
        .hits = has_several_hosts,
        .edit_plan =
            [](const Case& c, Plan& plan) {
              const std::vector<int> hosts = hosts_of_members(c);
              change(plan, is_reduce, [&](Step& step, std::span<Range> sources) {
                const auto end =
                    std::remove_if(sources.begin(), sources.end(), [&](const Range& source) {
                      return !is_first_of_host(hosts, source.rank);
                    });
                if (end != sources.begin())
                  step.source_count = static_cast<std::uint32_t>(end - sources.begin());
              });
            }},
};

}  // namespace

void add_host_bugs(std::vector<Bug>& out) {
  out.insert(out.end(), of_hosts.begin(), of_hosts.end());
}

}  // namespace rankcheck::cases::audit
