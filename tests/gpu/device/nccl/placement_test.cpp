#include "gpu/device/nccl/placement.hpp"

#include <map>
#include <string>

#include <gtest/gtest.h>

namespace rankcheck::gpu::nccl {
namespace {

using Environment = std::map<std::string, std::string>;

/// Returns the variables that a rank is started with if the user has set `given`.
Environment told(int rank, const Environment& given = {}) {
  return environment_of_host(rank, [&](const char* name) {
    const auto found = given.find(name);
    return found == given.end() ? std::string() : found->second;
  });
}

TEST(NcclPlacementTest, DealsRanksOutOverTheDevices) {
  const int expected[] = {0, 1, 2, 0, 1};
  for (int rank = 0; rank < 5; ++rank) EXPECT_EQ(device_of(rank, 3), expected[rank]);
  EXPECT_TRUE(share_devices(4, 3));
  EXPECT_FALSE(share_devices(3, 3));
}

TEST(NcclPlacementTest, TellsNcclTheHostsOfACase) {
  const std::vector<int> hosts{0, 1, 0};
  for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(host_of(rank, hosts, rank == 1), hosts[rank]);
  EXPECT_EQ(host_of(4, hosts, false), 0);
  EXPECT_EQ(host_of(4, hosts, true), 7);
  EXPECT_EQ(host_of(4, {}, true), 4);
  EXPECT_EQ(host_of(4, {}, false), std::nullopt);
}

TEST(NcclPlacementTest, LetsNoRanksOfAHostShareADevice) {
  EXPECT_EQ(why_hosts_refused({0, 1, 2}, 1), "");
  EXPECT_EQ(why_hosts_refused({0, 0, 1, 1}, 2), "");
  EXPECT_EQ(why_hosts_refused({0, 1, 0}, 2),
            "hosts: NCCL takes one rank of a host on each device: ranks 0 and 2 of host 0 would "
            "share a device");
}

TEST(NcclPlacementTest, NeedsRoomInSharedMemory) {
  // The file system /proc has no room.
  EXPECT_EQ(
      why_too_small("/proc", 4),
      "/proc: found 0 MiB, expected 136 MiB for 4 ranks that share devices: mount it with more "
      "(of a container: --shm-size=1g)");
  EXPECT_EQ(why_too_small("/nowhere", 4), "");
  EXPECT_EQ(why_too_small("/proc", 0), "");
}

TEST(NcclPlacementTest, MakesEveryRankThatSharesAHostOfItsOwn) {
  EXPECT_EQ(told(3),
            (Environment{{"NCCL_HOSTID", "rankcheck-3"},
                         {"NCCL_NET", "Socket"},
                         {"NCCL_IB_DISABLE", "1"},
                         {"NCCL_SOCKET_IFNAME", "lo"},
                         {"NCCL_MNNVL_ENABLE", "0"},
                         {"NCCL_NVLS_ENABLE", "0"},
                         {"NCCL_COMM_SPLIT_SHARE_RESOURCES", "1"},
                         {"NCCL_MAX_NCHANNELS", "1"}}));
  EXPECT_NE(told(0).at("NCCL_HOSTID"), told(1).at("NCCL_HOSTID"));
}

TEST(NcclPlacementTest, KeepsWhatTheUserHasSet) {
  for (const auto& [name, value] : told(0)) {
    const Environment kept = told(0, {{name, "as set"}});
    const bool is_host = name == "NCCL_HOSTID";
    EXPECT_EQ(kept.size(), told(0).size() - (is_host ? 0 : 1)) << name;
    // One NCCL_HOSTID for all ranks would put them on one host again, so it is replaced.
    EXPECT_EQ(kept.contains(name), is_host) << name;
  }
  EXPECT_EQ(told(0, {{"NCCL_HOSTID", "as set"}}).at("NCCL_HOSTID"), "rankcheck-0");
  EXPECT_EQ(told(0, {{"NCCL_SOCKET_IFNAME", "eth0"}}).at("NCCL_NET"), "Socket");
}

TEST(NcclPlacementTest, KnowsWhetherNcclMayGoStraightFromDeviceToDevice) {
  const auto may = [](const std::string& name, const std::string& value) {
    return lets_peers_reach([&](const char* asked) { return asked == name ? value : ""; });
  };
  EXPECT_TRUE(may("", ""));
  EXPECT_TRUE(may("NCCL_P2P_DISABLE", "0"));
  EXPECT_FALSE(may("NCCL_P2P_DISABLE", "1"));
  EXPECT_TRUE(may("NCCL_P2P_LEVEL", "NVL"));
  EXPECT_FALSE(may("NCCL_P2P_LEVEL", "LOC"));
  EXPECT_FALSE(may("NCCL_P2P_LEVEL", "0"));
}

}  // namespace
}  // namespace rankcheck::gpu::nccl
