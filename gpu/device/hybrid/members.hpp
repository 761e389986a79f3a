#pragma once

#include <span>
#include <vector>

#include "gpu/device/hybrid/placement.hpp"

namespace rankcheck::gpu::hybrid {

/// Where a member of a group is.
struct Member {
  int process = 0;
  /// The device of the member, counted within its process.
  int device = 0;
  /// The member's place among the members that one given process hosts, in the order of the group;
  /// -1 if another process hosts it.
  int place = -1;
};

/// Returns where the members of a group are, as seen by one process. `group` lists their world
/// ranks.
[[nodiscard]] std::vector<Member> members_of(const Placement& placement,
                                             std::span<const int> group,
                                             int process);

}  // namespace rankcheck::gpu::hybrid
