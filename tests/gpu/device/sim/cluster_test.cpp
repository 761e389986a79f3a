#include "gpu/device/sim/cluster.hpp"

#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference/registry.hpp"

#include "gpu/collectives/registry.hpp"

#include "tests/harness/text.hpp"

namespace rankcheck::gpu::sim {
namespace {

/// Three simulated devices.
class SimClusterTest : public testing::Test {
 protected:
  void SetUp() override { cluster_.begin(ranks, {}, std::nullopt); }

  /// Returns buffers of `send` and `recv` floats on every rank.
  std::vector<DeviceBuffers> buffers(std::int64_t send, std::int64_t recv) {
    std::vector<DeviceBuffers> all;
    for (int rank = 0; rank < ranks; ++rank) {
      all.push_back(
          {.send = cluster_.allocate(rank, 4 * send), .recv = cluster_.allocate(rank, 4 * recv)});
    }
    return all;
  }
  /// Returns the complaint about gathering blocks of 5 floats; empty if there is none.
  std::string fault_of(const std::vector<DeviceBuffers>& buffers, int call_ranks = ranks) {
    return harness::complaint_of<DeviceError>([&] {
      cluster_.collective("all_gather", {.ranks = call_ranks, .count = 5}, false, buffers);
    });
  }

  static constexpr int ranks = 3;
  SimCluster cluster_{reference::contract_named, algorithm_for};
};

TEST_F(SimClusterTest, TakesCallsThatFitAndNoOthers) {
  EXPECT_EQ(fault_of(buffers(5, 15)), "");
  EXPECT_EQ(fault_of(buffers(4, 15)), "rank 0: all_gather needs 20 bytes, but the device has 16");
  EXPECT_EQ(fault_of(buffers(5, 14)), "rank 0: all_gather needs 60 bytes, but the device has 56");
}

TEST_F(SimClusterTest, RefusesMemoryOfAnotherRank) {
  std::vector<DeviceBuffers> crossed = buffers(5, 15);
  crossed[2].recv = crossed[1].recv;
  EXPECT_EQ(fault_of(crossed), "rank 2: all_gather needs 60 bytes, but the device has no memory");
}

TEST_F(SimClusterTest, TakesMemoryThatItAdoptedUntilItBeginsAgain) {
  std::array<std::byte, 20> outside{};
  cluster_.adopt(1, outside.data(), 20);
  std::vector<DeviceBuffers> own = buffers(5, 15);
  own[1].send = outside.data();
  EXPECT_EQ(fault_of(own), "");
  cluster_.begin(ranks, {}, std::nullopt);
  own = buffers(5, 15);
  own[1].send = outside.data();
  EXPECT_EQ(fault_of(own), "rank 1: all_gather needs 20 bytes, but the device has no memory");
}

TEST_F(SimClusterTest, RefusesCallsOrBuffersOfFewerRanks) {
  std::vector<DeviceBuffers> all = buffers(5, 15);
  EXPECT_EQ(fault_of(all, 2),
            "all_gather: a call of 2 ranks with buffers of 3 does not fit a cluster of 3");
  all.pop_back();
  EXPECT_EQ(fault_of(all),
            "all_gather: a call of 3 ranks with buffers of 2 does not fit a cluster of 3");
}

}  // namespace
}  // namespace rankcheck::gpu::sim
