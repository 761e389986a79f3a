#include "tests/gpu/device/guarded/cluster.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "gpu/ptycho/registry.hpp"

#include "harness/image.hpp"
#include "harness/input.hpp"

#include "tests/gpu/ptycho/devices.hpp"

namespace rankcheck::gpu {
namespace {

using harness::Case;
using harness::Image;

TEST(GuardedCluster, CopiesWhatOthersCannotTouch) {
  GuardedCluster cluster(2);
  auto* const there = cluster.allocate_array<float>(1, 1);
  const float value = 3;
  cluster.write(1, &value, there, sizeof value);
  EXPECT_EQ(cluster.read_value(1, there), 3);
  EXPECT_DEATH(static_cast<void>(static_cast<volatile float*>(there)[0]), "");
  EXPECT_DEATH(static_cast<volatile float*>(there)[0] = 1, "");
}

TEST(GuardedCluster, RefusesCopiesOfOtherRanksMemory) {
  GuardedCluster cluster(2);
  const auto* const there = cluster.allocate_array<float>(1, 1);
  EXPECT_THROW(static_cast<void>(cluster.read_value(0, there)), DeviceError);
  EXPECT_THROW(static_cast<void>(cluster.read_value(1, there + 1)), DeviceError);
}

/// Three ranks, one of them without positions, odd sizes, two modes.
Case case_of(const spec::Contract& contract, spec::Type type) {
  Case c;
  c.operation = contract.name;
  c.ranks = 3;
  c.type = type;
  c.scene = {.rows = 13, .cols = 12, .window = 5, .detector = 7, .modes = 2};
  if (c.operation.starts_with("multislice")) c.scene.slices = 2;
  if (contract.in_free_space || c.scene.slices > 1) {
    c.scene.wavelength = 1;
    c.scene.distance = 3;
  }
  c.counts = {3, 0, 2};
  if (contract.tiled) {
    c.counts = {5, 2, 6};
    c.scene.halo = 1;
  }
  return c;
}

/// What an operator leaves in each rank's memory.
std::vector<Image> run(Cluster& cluster, const Operator& algorithm, const Case& c) {
  harness::ImageLayout layout;
  std::vector<Image> images(static_cast<std::size_t>(c.ranks));
  std::vector<std::byte*> there;
  std::vector<DeviceBuffers> buffers;
  const auto bytes = [](const Image& image) { return static_cast<std::int64_t>(image.size()); };
  for (int rank = 0; rank < c.ranks; ++rank) {
    Image& image = images[static_cast<std::size_t>(rank)];
    prepare_stage(reference::contract_named,
                  {&c, 1},
                  0,
                  rank,
                  harness::ResultPlace::own_block,
                  {},
                  layout,
                  image);
    there.push_back(cluster.allocate(rank, bytes(image)));
    cluster.write(rank, image.data(), there.back(), bytes(image));
    buffers.push_back({.send = layout.send < 0 ? nullptr : there.back() + layout.send,
                       .recv = layout.recv < 0 ? nullptr : there.back() + layout.recv});
  }
  const spec::Call call = harness::call_of(c);
  algorithm.run({cluster, reference::contract_named(c.operation), call, buffers});
  for (int rank = 0; rank < c.ranks; ++rank) {
    const auto place = static_cast<std::size_t>(rank);
    cluster.read(rank, there[place], images[place].data(), bytes(images[place]));
  }
  return images;
}

class GuardedOperators : public testing::TestWithParam<OperatorImplementation> {};

TEST_P(GuardedOperators, LeaveTheMemoryOfDevicesToThem) {
  const spec::Contract& contract = reference::contract_named(GetParam().operation);
  for (const spec::Type type : {spec::Type::f32, spec::Type::f64}) {
    Case c = case_of(contract, type);
    if (!why_refused(GetParam().algorithm, harness::call_of(c)).empty()) c.scene.slices = 1;
    ASSERT_EQ(spec::why_invalid(contract, harness::call_of(c)), std::nullopt);
    ASSERT_EQ(why_refused(GetParam().algorithm, harness::call_of(c)), "");
    GuardedCluster guarded(c.ranks);
    GuardedMemory unused;
    Devices simulated(c.ranks, &unused);
    EXPECT_EQ(run(guarded, GetParam().algorithm, c), run(simulated, GetParam().algorithm, c));
  }
}

std::string name_of(const testing::TestParamInfo<OperatorImplementation>& info) {
  return std::string(info.param.operation) + '_' + std::string(info.param.algorithm.name);
}

INSTANTIATE_TEST_SUITE_P(all, GuardedOperators, testing::ValuesIn(operators()), name_of);

}  // namespace
}  // namespace rankcheck::gpu
