#include "gpu/device/nccl/log.hpp"

#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "harness/base/files.hpp"

#include "tests/harness/sample.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::gpu::nccl {
namespace {

const Forcing tree_ll{"AllReduce", "TREE", "LL"};
const Launch as_forced{"AllReduce", "TREE", "LL"};

std::string disagreement(const std::vector<Launch>& launches, bool moves_data = true) {
  return harness::complaint_of<std::runtime_error>(
      [&] { require_forced(tree_ll, launches, moves_data); });
}

TEST(NcclLogTest, ReadsLaunchesAndNothingElse) {
  const std::vector<Launch> expected{{"AllReduce", "TREE", "SIMPLE"},
                                     {"AllGather", "RING", "LL128"}};
  EXPECT_EQ(
      launches_in("host:1:2 [0] NCCL INFO NET/Socket : Using [0]lo:127.0.0.1<0>\n"
                  "host:1:2 [0] NCCL INFO AllReduce: 4194304 Bytes -> Algo TREE proto SIMPLE "
                  "channel{Lo..Hi}={0..7}\n"
                  "host:1:2 [0] NCCL INFO TUNER/Plugin: Could not find: libnccl-tuner.so proto x\n"
                  "[2026-01-01 10:00:00] host:1:2 [0] NCCL INFO AllGather: 16 Bytes -> Algo RING "
                  "proto LL128 channel{Lo..Hi}={0..0} cgaClusterSize 4"),
      expected);
  EXPECT_TRUE(launches_in("").empty());
}

TEST(NcclLogTest, TellsWhatCameSince) {
  const harness::TemporaryFolder folder;
  const std::string path = folder.path() / "log";
  Log log(path);
  EXPECT_TRUE(log.news().empty());
  const std::string line = "NCCL INFO AllReduce: 4 Bytes -> Algo TREE proto LL channel\n";
  harness::write_file(path, line);
  EXPECT_EQ(log.news().size(), 1U);
  EXPECT_TRUE(log.news().empty());
  harness::write_file(path, line + line + "NCCL INFO AllReduce: 4 Byt");
  EXPECT_EQ(log.news().size(), 1U);
  harness::write_file(path, line + line + "NCCL INFO AllReduce: 4 Bytes -> Algo RING proto LL c\n");
  EXPECT_EQ(log.news().at(0).algorithm, "RING");
}

TEST(ForcedWayTest, IsTheOneThatTheLogTells) {
  EXPECT_EQ(disagreement({as_forced}), "");
  EXPECT_EQ(disagreement({as_forced, as_forced, {"Broadcast", "RING", "LL"}}), "");
  EXPECT_EQ(disagreement({as_forced, {"AllReduce", "RING", "LL"}}),
            "forced to TREE/LL, but according to its log NCCL's AllReduce took RING/LL");
  EXPECT_EQ(disagreement({{"AllReduce", "TREE", "SIMPLE"}}),
            "forced to TREE/LL, but according to its log NCCL's AllReduce took TREE/SIMPLE");
}

TEST(ForcedWayTest, MustBeSeenWhereDataMove) {
  EXPECT_EQ(disagreement({}), "forced to TREE/LL, but NCCL's log shows no AllReduce");
  EXPECT_EQ(disagreement({{"Broadcast", "TREE", "LL"}}),
            "forced to TREE/LL, but NCCL's log shows no AllReduce");
  EXPECT_EQ(disagreement({}, false), "");
}

}  // namespace
}  // namespace rankcheck::gpu::nccl
