#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reference/spec/to_size.hpp"

#include "harness/base/bad_input.hpp"
#include "harness/base/table.hpp"

#include "cases/families/collectives/case.hpp"
#include "cases/traces/trace.hpp"

namespace rankcheck::cases::traces {

namespace {

using harness::BadInput;
using harness::Case;

/// "all_reduce of 4 f32 with sum at trace:12".
std::string describe(const TracedCall& traced) {
  const Case& c = traced.call;
  std::string text = c.operation;
  if (c.operation != "barrier") text += fmt::format(" of {} {}", c.count, spec::name(c.type));
  const CollectiveCase& own = collective(c);
  if (own.op != spec::ReduceOp::none) text += fmt::format(" with {}", spec::name(own.op));
  if (own.root != 0) text += fmt::format(" and root {}", own.root);
  return fmt::format("{} at {}", text, traced.place);
}

void require_ranks(const Trace& trace) {
  if (trace.world < 1 || trace.world > ranks_max) {
    throw BadInput(fmt::format("got {} ranks, expected 1..{}", trace.world, ranks_max));
  }
  for (const auto& [name, ranks] : trace.communicators) {
    std::set<int> seen;
    for (const int rank : ranks) {
      if (rank >= 0 && rank < trace.world && seen.insert(rank).second) continue;
      throw BadInput(
          fmt::format("communicator {}: got the ranks {}, expected different ones in 0..{}",
                      harness::printable(name),
                      fmt::join(ranks, ","),
                      trace.world - 1));
    }
  }
}

/// The ranks with calls that are left, and their places in their calls.
class Heads {
 public:
  explicit Heads(const Trace& trace) : trace_(trace) {
    for (const auto& [rank, calls] : trace.calls) next_[rank] = 0;
  }

  /// The next call of a rank; null if there is none.
  [[nodiscard]] const TracedCall* of(int rank) const {
    const std::vector<TracedCall>& calls = trace_.calls.at(rank);
    const std::size_t at = next_.at(rank);
    return at < calls.size() ? &calls[at] : nullptr;
  }

  /// The members of the call's communicator whose calls are known.
  [[nodiscard]] std::vector<int> known_members(const TracedCall& call) const {
    std::vector<int> known = trace_.communicators.at(call.communicator);
    std::erase_if(known, [&](int rank) { return !next_.contains(rank); });
    return known;
  }

  /// The first member whose next call is on another communicator. -1 if there is none.
  [[nodiscard]] int first_elsewhere(const TracedCall& call) const {
    for (const int member : known_members(call)) {
      const TracedCall* const other = of(member);
      if (other == nullptr || other->communicator != call.communicator) return member;
    }
    return -1;
  }

  /// The rank whose next call all members make next. -1 if there is none.
  [[nodiscard]] int ready() const {
    for (const auto& [rank, at] : next_) {
      const TracedCall* const call = of(rank);
      if (call != nullptr && first_elsewhere(*call) < 0) return rank;
    }
    return -1;
  }

  void advance(int rank) { ++next_.at(rank); }

  /// Says for each rank with a next call who does not come to it.
  void add_waits(std::vector<std::string>& problems) const {
    for (const auto& [rank, at] : next_) {
      const TracedCall* const call = of(rank);
      if (call == nullptr) continue;
      const int elsewhere = first_elsewhere(*call);
      const TracedCall* const other = of(elsewhere);
      problems.push_back(fmt::format(
          "rank {} makes {}, and rank {} {}",
          rank,
          describe(*call),
          elsewhere,
          other == nullptr ? "has no more calls"
                           : fmt::format("makes {} on another communicator", describe(*other))));
    }
  }

 private:
  const Trace& trace_;
  std::map<int, std::size_t> next_;
};

}  // namespace

MergedCalls merge(const Trace& trace) {
  require_ranks(trace);
  MergedCalls merged;
  Heads heads(trace);
  std::vector<int> world(spec::to_size(trace.world));
  std::iota(world.begin(), world.end(), 0);
  for (int rank = heads.ready(); rank >= 0; rank = heads.ready()) {
    const TracedCall& first = *heads.of(rank);
    Case call = first.call;
    call.ranks = trace.world;
    call.group = trace.communicators.at(first.communicator);
    if (call.group == world) call.group.clear();
    call.data_seed = merged.calls.size() + 1;
    for (const int member : heads.known_members(first)) {
      const TracedCall& other = *heads.of(member);
      if (other.call != first.call) {
        merged.problems.push_back(fmt::format("rank {} makes {}, and rank {} makes {}",
                                              rank,
                                              describe(first),
                                              member,
                                              describe(other)));
      }
      heads.advance(member);
    }
    merged.calls.push_back(std::move(call));
  }
  heads.add_waits(merged.problems);
  return merged;
}

}  // namespace rankcheck::cases::traces
