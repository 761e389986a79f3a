#include "gpu/device/hybrid/cluster.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference/registry.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/collectives/registry.hpp"
#include "gpu/device/sim/simulator.hpp"

#include "tests/gpu/collectives/implementation.hpp"
#include "tests/gpu/device/hybrid/thread_world.hpp"
#include "tests/print.hpp"
#include "tests/reference/collectives/calls.hpp"

namespace rankcheck::gpu::hybrid {
namespace {

/// The send or recv buffers of all ranks of a group.
using Arrays = std::vector<std::vector<std::byte>>;

/// Calls on simulated devices in several processes.
class Calls {
 public:
  Calls(std::string_view operation, int ranks, spec::Type type = spec::Type::int32)
      : contract_(reference::contract_named(operation)),
        call_(tests::call_of(contract_, ranks, 7)) {
    call_.type = type;
  }

  /// Returns what the ranks receive on `devices` devices a process.
  Arrays run(const plan::Algorithm& algorithm,
             const std::vector<int>& group,
             int devices,
             Transport transport) {
    const Placement placement{.ranks = 1 + *std::max_element(group.begin(), group.end()),
                              .devices_per_process = devices};
    Arrays received(group.size());
    ThreadWorld world(processes(placement));
    const std::string error = world.run([&](Processes& process) {
      const auto own = make_devices(devices_of(placement, process.rank()), 0);
      HybridCluster cluster(process, *own, placement, reference::contract_named, algorithm_for);
      const bool takes_part = std::any_of(group.begin(), group.end(), [&](int world_rank) {
        return process_of(placement, world_rank) == process.rank();
      });
      if (!takes_part) return;
      cluster.begin(group);
      std::vector<HybridCluster::Buffers> buffers;
      std::vector<std::vector<std::byte>> sent;
      for (const int rank : cluster.local()) {
        const std::vector<std::byte>& data = sent.emplace_back(input(rank));
        received[spec::to_size(rank)] = output(rank);
        buffers.push_back({.data = {.send = const_cast<std::byte*>(data.data()),
                                    .recv = received[spec::to_size(rank)].data()}});
      }
      const HybridCluster::CollectiveCall call{.contract = contract_,
                                               .call = call_,
                                               .options = {},
                                               .algorithm = algorithm,
                                               .transport = transport};
      cluster.perform({&call, 1}, {}, buffers, {});
      cluster.end();
    });
    EXPECT_EQ(error, "");
    messages = world.messages;
    empty_messages = world.empty_messages;
    return received;
  }

  /// Returns what the ranks receive in the simulator.
  Arrays simulate(const Implementation& implementation) {
    const plan::Plan plan = plan_of(implementation, call_);
    Arrays sent;
    Arrays received;
    for (int rank = 0; rank < call_.ranks; ++rank) {
      sent.push_back(input(rank));
      received.push_back(output(rank));
    }
    std::vector<sim::RankBuffers> buffers;
    for (std::size_t r = 0; r < sent.size(); ++r) {
      buffers.push_back({.send = sent[r].data(),
                         .recv = received[r].data(),
                         .send_bytes = static_cast<std::int64_t>(sent[r].size()),
                         .recv_bytes = static_cast<std::int64_t>(received[r].size())});
    }
    sim::Simulator simulator;
    const sim::Report& report = simulator.run(plan, buffers, {});
    EXPECT_EQ(report.text, "");
    return received;
  }

  int messages = 0;
  int empty_messages = 0;

 private:
  [[nodiscard]] std::vector<std::byte> input(int rank) const {
    const std::int64_t count = spec::extents_of(contract_, call_, rank).send_size;
    std::vector<std::byte> bytes(spec::to_size(count * 4));
    for (std::int64_t i = 0; i < count; ++i) {
      const auto integer = static_cast<std::int32_t>(std::int64_t{1000} * rank + i);
      // Sums of these numbers depend on their order.
      const float real = 1.0F / static_cast<float>(integer + 3);
      const void* from = &integer;
      if (call_.type == spec::Type::f32) from = &real;
      std::memcpy(bytes.data() + 4 * i, from, 4);
    }
    return bytes;
  }
  [[nodiscard]] std::vector<std::byte> output(int rank) const {
    const std::int64_t count = spec::extents_of(contract_, call_, rank).recv_size;
    return std::vector<std::byte>(spec::to_size(count * 4), std::byte{0x5a});
  }

  const spec::Contract& contract_;
  spec::Call call_;
};

class HybridPlansTest : public testing::TestWithParam<Implementation> {};

/// Sums of integers do not depend on their order.
TEST_P(HybridPlansTest, GiveWhatTheSimulatorGives) {
  for (const std::vector<int>& group :
       {std::vector{0}, {1, 0}, {0, 1, 2, 3, 4}, {5, 2, 0, 3}, {6, 1, 4}}) {
    Calls calls(GetParam().operation, static_cast<int>(group.size()));
    const Arrays expected = calls.simulate(GetParam());
    for (const int devices : {1, 2, 3}) {
      for (const Transport transport : {Transport::staged, Transport::direct}) {
        EXPECT_EQ(calls.run(GetParam().algorithm, group, devices, transport), expected)
            << group.size() << " ranks, " << devices << " devices a process";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All,
                         HybridPlansTest,
                         testing::ValuesIn(implementations()),
                         tests::printed_name);

TEST(HybridClusterTest, GivesAllRanksTheSameBitsOfASum) {
  const plan::Algorithm& algorithm = implementation_named("all_reduce", "one_shot").algorithm;
  for (const std::vector<int>& group : {std::vector{0, 1, 2, 3, 4}, {4, 0, 3, 1, 2}}) {
    Calls calls("all_reduce", 5, spec::Type::f32);
    const Arrays received = calls.run(algorithm, group, 2, Transport::staged);
    for (const auto& each : received) EXPECT_EQ(each, received.front());
  }
}

TEST(HybridClusterTest, SendsOnePartialResultOfEachProcess) {
  Calls calls("reduce", 6);
  const std::vector<int> group{0, 1, 2, 3, 4, 5};
  const plan::Algorithm& algorithm = implementation_named("reduce", "direct").algorithm;
  calls.run(algorithm, group, 2, Transport::staged);
  EXPECT_EQ(calls.messages, 2);
  calls.run(algorithm, group, 6, Transport::staged);
  EXPECT_EQ(calls.messages, 0);
}

TEST(HybridClusterTest, SendsMessagesWithoutDataOnlyWhereRanksMustWait) {
  const std::vector<int> group{0, 1, 2, 3};
  Calls barrier("barrier", 4);
  barrier.run(implementation_named("barrier", "central").algorithm, group, 2, Transport::staged);
  EXPECT_GT(barrier.empty_messages, 0);
  EXPECT_EQ(barrier.empty_messages, barrier.messages);
  Calls gather("all_gather", 4);
  gather.run(implementation_named("all_gather", "ring").algorithm, group, 2, Transport::staged);
  EXPECT_GT(gather.messages, 0);
  EXPECT_EQ(gather.empty_messages, 0);
}

TEST(HybridClusterTest, RefusesBuffersOfAnotherNumberOfRanks) {
  ThreadWorld world(1);
  const std::string error = world.run([](Processes& process) {
    const Placement placement{.ranks = 2, .devices_per_process = 2};
    const auto devices = make_devices(2, 0);
    HybridCluster cluster(process, *devices, placement, reference::contract_named, algorithm_for);
    cluster.begin(std::vector{0, 1});
    const DeviceBuffers one;
    cluster.collective("barrier", {.ranks = 2}, false, {&one, 1});
  });
  EXPECT_EQ(error,
            "barrier: a call of 2 ranks with buffers of 1 does not fit a cluster of 2 with 2 in "
            "this process");
}

}  // namespace
}  // namespace rankcheck::gpu::hybrid
