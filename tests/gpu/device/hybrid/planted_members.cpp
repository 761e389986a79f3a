#include <algorithm>
#include <vector>

#include "gpu/device/hybrid/members.hpp"

#include "tests/gpu/device/planted.hpp"

/// The worker for `hybrid` with faults: this function replaces the one of members.cpp.
/// RANKCHECK_PLANTED names the faults, see planted.hpp.
namespace rankcheck::gpu::hybrid {

namespace {

using tests::is_planted;

/// Returns the process of a member. The fault `even_shares` spreads the ranks evenly, so that only
/// a last process with fewer devices is wrong.
int process_of_member(const Placement& placement, int world_rank) {
  if (!is_planted("even_shares")) return process_of(placement, world_rank);
  return world_rank * processes(placement) / placement.ranks;
}

/// Returns the member's place if the places followed the order of the world, not of the group.
int place_in_world(const std::vector<Member>& members, const Member& member) {
  return static_cast<int>(std::count_if(members.begin(), members.end(), [&](const Member& each) {
    return each.process == member.process && each.device < member.device;
  }));
}

/// Whether the call before was one of another group, without a common rank, that also had members
/// in this process.
bool follows_another_group(const Placement& placement, std::span<const int> group, int process) {
  static std::vector<int> before;
  const auto is_here = [&](int rank) { return process_of(placement, rank) == process; };
  const auto was_member = [](int rank) {
    return std::find(before.begin(), before.end(), rank) != before.end();
  };
  const bool follows = std::any_of(before.begin(), before.end(), is_here) &&
                       std::none_of(group.begin(), group.end(), was_member);
  before.assign(group.begin(), group.end());
  return follows;
}

}  // namespace

std::vector<Member> members_of(const Placement& placement,
                               std::span<const int> group,
                               int process) {
  std::vector<Member> members;
  int places = 0;
  for (const int world_rank : group) {
    Member member{.process = process_of_member(placement, world_rank),
                  .device = device_of(placement, world_rank)};
    if (member.process == process) member.place = places++;
    members.push_back(member);
  }
  const bool is_reversed =
      is_planted("reversed_devices") ||
      (is_planted("reversed_in_second_group") && follows_another_group(placement, group, process));
  for (Member& each : members) {
    if (each.place < 0) continue;
    if (is_reversed) each.place = places - 1 - each.place;
    if (is_planted("places_of_world")) each.place = place_in_world(members, each);
  }
  return members;
}

}  // namespace rankcheck::gpu::hybrid
