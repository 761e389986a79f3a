#include "gpu/device/hybrid/members.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace rankcheck::gpu::hybrid {
namespace {

/// Five ranks on two devices a process: ranks 0 and 1, 2 and 3, and 4 alone.
TEST(MembersTest, CountsThePlacesOfAProcessInTheOrderOfTheGroup) {
  const std::vector<int> group{3, 0, 4, 2};
  const std::vector<Member> members = members_of({.ranks = 5, .devices_per_process = 2}, group, 1);
  std::vector<int> processes;
  std::vector<int> devices;
  std::vector<int> places;
  for (const Member& each : members) {
    processes.push_back(each.process);
    devices.push_back(each.device);
    places.push_back(each.place);
  }
  EXPECT_EQ(processes, (std::vector{1, 0, 2, 1}));
  EXPECT_EQ(devices, (std::vector{1, 0, 0, 0}));
  EXPECT_EQ(places, (std::vector{0, -1, -1, 1}));
}

}  // namespace
}  // namespace rankcheck::gpu::hybrid
