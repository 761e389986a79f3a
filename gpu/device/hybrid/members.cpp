#include "gpu/device/hybrid/members.hpp"

namespace rankcheck::gpu::hybrid {

std::vector<Member> members_of(const Placement& placement,
                               std::span<const int> group,
                               int process) {
  std::vector<Member> members;
  int places = 0;
  for (const int world_rank : group) {
    Member member{.process = process_of(placement, world_rank),
                  .device = device_of(placement, world_rank)};
    if (member.process == process) member.place = places++;
    members.push_back(member);
  }
  return members;
}

}  // namespace rankcheck::gpu::hybrid
