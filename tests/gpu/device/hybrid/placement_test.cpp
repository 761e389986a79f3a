#include "gpu/device/hybrid/placement.hpp"

#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "gpu/device/hybrid/members.hpp"

namespace rankcheck::gpu::hybrid {
namespace {

/// Five ranks on two devices a process: ranks 0 and 1, 2 and 3, and 4 alone.
constexpr Placement five{.ranks = 5, .devices_per_process = 2};

TEST(PlacementTest, FillsOneProcessAfterAnother) {
  for (const auto& [rank, process, device] :
       {std::tuple{0, 0, 0}, {1, 0, 1}, {2, 1, 0}, {3, 1, 1}, {4, 2, 0}}) {
    EXPECT_EQ(process_of(five, rank), process) << rank;
    EXPECT_EQ(device_of(five, rank), device) << rank;
  }
}

TEST(PlacementTest, GivesTheLastProcessWhatIsLeft) {
  EXPECT_EQ(processes(five), 3);
  EXPECT_EQ(devices_of(five, 0), 2);
  EXPECT_EQ(devices_of(five, 1), 2);
  EXPECT_EQ(devices_of(five, 2), 1);
  EXPECT_EQ(devices_of(five, 3), 0);
}

TEST(PlacementTest, NeedsNoPartlyFilledProcess) {
  const Placement six{.ranks = 6, .devices_per_process = 3};
  EXPECT_EQ(processes(six), 2);
  EXPECT_EQ(devices_of(six, 1), 3);
  EXPECT_EQ(processes({.ranks = 1, .devices_per_process = 3}), 1);
}

TEST(MembersTest, CountsThePlacesOfAProcessInTheOrderOfTheGroup) {
  const std::vector<int> group{3, 0, 4, 2};
  const std::vector<Member> members = members_of(five, group, 1);
  // The process, the device and the place in process 1.
  const std::vector<std::tuple<int, int, int>> expected{
      {1, 1, 0}, {0, 0, -1}, {2, 0, -1}, {1, 0, 1}};
  ASSERT_EQ(members.size(), expected.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    EXPECT_EQ(std::tuple(members[i].process, members[i].device, members[i].place), expected[i])
        << i;
  }
}

}  // namespace
}  // namespace rankcheck::gpu::hybrid
