#include <algorithm>
#include <cstdint>
#include <vector>

#include "reference/spec/to_size.hpp"

#include "harness/case/family.hpp"
#include "harness/case/input.hpp"

#include "cases/collectives/properties.hpp"
#include "cases/families/collectives/case.hpp"

namespace rankcheck::cases {

namespace {

using harness::Case;
using harness::group_size;

/// Places in the group of the case.
using Places = std::vector<int>;

/// Runs of `length` places; the last run may be shorter.
std::vector<Places> consecutive(int n, int length) {
  std::vector<Places> groups(spec::to_size((n + length - 1) / length));
  for (int place = 0; place < n; ++place) groups[spec::to_size(place / length)].push_back(place);
  return groups;
}

std::vector<Places> every_nth(int n, int groups_count) {
  std::vector<Places> groups(spec::to_size(groups_count));
  for (int place = 0; place < n; ++place) {
    groups[spec::to_size(place % groups_count)].push_back(place);
  }
  return groups;
}

/// Runs of any length, at least two.
std::vector<Places> ragged(int n, const harness::CounterHash& hash) {
  std::vector<Places> groups(1);
  const int always = 1 + static_cast<int>(hash(0) % spec::to_size(n - 1));
  for (int place = 0; place < n; ++place) {
    const bool begins = place == always || hash(spec::to_size(place) + 1) % 3 == 0;
    if (begins && place > 0) groups.emplace_back();
    groups.back().push_back(place);
  }
  return groups;
}

std::vector<Places> places_of_groups(const Case& c) {
  const int n = group_size(c);
  const harness::CounterHash hash(c.data_seed, spec::to_size(n));
  // Every length from 1 to n - 1 occurs, so there are at least two groups.
  const int length = 1 + static_cast<int>(c.data_seed / 3 % spec::to_size(n - 1));
  switch (c.data_seed % 3) {
    case 0:
      return consecutive(n, length);
    case 1:
      return every_nth(n, length + 1);
    default:
      return ragged(n, hash);
  }
}

/// Leaves out the ranks of the world that are no members.
void adapt_to_world(const spec::Contract& contract, Case& c) {
  // A group may be any rank alone, and needs a row.
  if (spec::combines_rows(contract)) std::replace(c.counts.begin(), c.counts.end(), 0, 1);
  if (c.group.empty()) return;
  std::vector<int> sorted = c.group;
  std::sort(sorted.begin(), sorted.end());
  c.ranks = group_size(c);
  for (int& member : c.group) {
    const auto found = std::lower_bound(sorted.begin(), sorted.end(), member);
    member = static_cast<int>(found - sorted.begin());
  }
  if (std::is_sorted(c.group.begin(), c.group.end())) c.group.clear();
}

bool is_of_world(const spec::Contract& contract, const Case& c) {
  const bool some_empty = std::count(c.counts.begin(), c.counts.end(), 0) > 0;
  if (some_empty && spec::combines_rows(contract)) return false;
  return c.ranks > 1 && group_size(c) == c.ranks;
}

/// The world's call gets other data than the groups' calls, so that it cannot pass with what they
/// left.
void call_in_groups(const spec::Contract& contract, const Case& c, std::vector<Case>& stages) {
  const std::vector<int> world = members(c);
  for (const Places& places : places_of_groups(c)) {
    Case& call = stages.emplace_back(c);
    call.group.clear();
    for (const int place : places) call.group.push_back(world[spec::to_size(place)]);
    harness::family_of(contract).keep_members(contract, c, places, call);
    if (call.late >= group_size(call)) call.late = -1;
    // Many algorithms of libraries refuse a lone rank, which is a group here all the same.
    if (places.size() > 1) continue;
    call.algorithm.clear();
    call.chunk = 0;
  }
  ++stages.emplace_back(c).data_seed;
}

void check_groups(const harness::Evidence& evidence, harness::Judgement& judgement) {
  const Case& c = evidence.stages.front();
  if (evidence.catalogue.find(c.operation)->contract.synchronises) {
    expect_ranks_separated(evidence, judgement);
  } else {
    expect_reference_in_every_stage(evidence, judgement);
  }
}

}  // namespace

harness::Property groups_at_once() {
  return {
      .name = "groups_at_once",
      .summary = "Groups that call at the same time, and then the world, agree with the reference.",
      .applies = is_of_world,
      .adapt = adapt_to_world,
      .program = call_in_groups,
      .check = check_groups,
  };
}

}  // namespace rankcheck::cases
