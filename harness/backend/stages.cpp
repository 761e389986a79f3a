#include "harness/backend/stages.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "harness/case/family.hpp"

namespace rankcheck::harness {

namespace {

/// Whether the calls have the same operation, type and variant, so that one backend can run them at
/// the same time.
bool are_alike(const Case& a, const Case& b) {
  if (a.operation != b.operation || a.type != b.type || b.input == InputKind::previous)
    return false;
  const Family* const family = find_family(a.operation);
  return family != nullptr && family->variant(a) == family->variant(b);
}

}  // namespace

int place_in_group(const Case& c, int world_rank) {
  if (c.group.empty()) return world_rank < c.ranks ? world_rank : -1;
  const auto found = std::ranges::find(c.group, world_rank);
  return found == c.group.end() ? -1 : static_cast<int>(found - c.group.begin());
}

std::size_t end_of_stages_at_once(std::span<const Case> stages, std::size_t first) {
  std::vector<int> busy = members(stages[first]);
  std::size_t end = first + 1;
  for (; end < stages.size() && are_alike(stages[first], stages[end]); ++end) {
    const std::vector<int> group = members(stages[end]);
    if (std::find_first_of(group.begin(), group.end(), busy.begin(), busy.end()) != group.end())
      break;
    busy.insert(busy.end(), group.begin(), group.end());
  }
  return end;
}

std::size_t end_of_overlap(std::span<const Case> stages, std::size_t first) {
  const auto waiting = std::ranges::find(stages.subspan(first), false, &Case::overlaps);
  return std::min(stages.size(), static_cast<std::size_t>(waiting - stages.begin()) + 1);
}

bool is_history(std::span<const Case> stages) {
  return stages.back().property == history_property ||
         std::ranges::any_of(stages, [&](const Case& each) {
           return each.overlaps || each.operation != stages.front().operation;
         });
}

bool runs_as_one(std::span<const Case> stages) {
  return stages.size() > 1 && is_history(stages) &&
         std::ranges::none_of(stages, [](const Case& each) {
           return each.input == InputKind::previous || !each.fault.empty();
         });
}

std::vector<std::pair<int, int>> program_order(std::span<const Case> stages) {
  struct Calls {
    /// Those that were started and not waited for, and those that the next call comes after.
    std::vector<int> under_way;
    std::vector<int> ended;
  };
  std::map<int, Calls> of_rank;
  std::vector<std::pair<int, int>> order;
  int number = 0;
  for (const Case& c : stages) {
    for (const int rank : members(c)) {
      Calls& calls = of_rank[rank];
      for (const int before : calls.ended) order.emplace_back(before, number);
      calls.under_way.push_back(number++);
      if (!c.overlaps) calls.ended = std::exchange(calls.under_way, {});
    }
  }
  return order;
}

bool has_stages_at_once(std::span<const Case> stages) {
  for (std::size_t first = 0; first + 1 < stages.size(); ++first) {
    if (end_of_stages_at_once(stages, first) > first + 1) return true;
  }
  return false;
}

}  // namespace rankcheck::harness
