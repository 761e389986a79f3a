#include "gpu/device/cuda/devices.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>

#include "reference/registry.hpp"

#include "gpu/collectives/registry.hpp"
#include "gpu/device/cluster.hpp"
#include "gpu/device/cuda/cluster.hpp"

#include "tests/harness/text.hpp"

/// Tests the devices of a process with the stand-in, and what the stand-in rejects.
namespace rankcheck::gpu::cuda {
namespace {

using harness::complaint_of;
using harness::has;

constexpr std::array<int, 3> all_ranks{0, 1, 2};

class CudaDevicesTest : public testing::Test {
 protected:
  CudaDevicesTest() { devices_.begin(all_ranks); }

  std::byte* put(int rank, std::int32_t value) {
    std::byte* const there = devices_.allocate(rank, sizeof value);
    devices_.write(rank, &value, there, sizeof value);
    return there;
  }
  std::int32_t get(int rank, const std::byte* from) {
    std::int32_t value = 0;
    devices_.read(rank, from, &value, sizeof value);
    return value;
  }
  void add(int rank, std::byte* to, const std::byte* from) {
    const std::array<Source, 2> sources{Source{.data = to, .scalar = nullptr},
                                        Source{.data = from, .scalar = nullptr}};
    devices_.combine(rank, {spec::Type::int32, spec::ReduceOp::sum, to, sources, 1, 1});
  }
  /// Rank 1 adds 1 to its 10, and rank 2 adds the sum to its 100. It `waits` for the sum or not.
  std::int32_t added_up(bool waits) {
    devices_.begin(all_ranks);
    std::byte* const first = put(0, 1);
    std::byte* const second = put(1, 10);
    std::byte* const third = put(2, 100);
    add(1, second, first);
    if (waits) {
      devices_.record(1, 0);
      devices_.wait(2, 0);
    }
    add(2, third, second);
    return get(2, third);
  }

  Devices devices_{3};
};

TEST_F(CudaDevicesTest, WorkWaitsForEventsOfOtherStreams) {
  for (int repeat = 0; repeat < 20; ++repeat) EXPECT_EQ(added_up(true), 111);
}

TEST_F(CudaDevicesTest, WithoutAnEventTheOrderIsAny) {
  bool was_late = false;
  for (int repeat = 0; repeat < 20; ++repeat) {
    was_late = added_up(false) == 110 || was_late;
    devices_.synchronize();
  }
  EXPECT_TRUE(was_late);
}

TEST_F(CudaDevicesTest, ReplaysAGraphAsOftenAsItIsLaunched) {
  std::byte* const sum = put(0, 0);
  std::byte* const part = put(1, 5);
  devices_.begin_capture(0);
  devices_.record(0, 0);
  devices_.wait(1, 0);
  add(1, part, part);
  devices_.record(1, 1);
  devices_.wait(0, 1);
  add(0, sum, part);
  const std::int32_t graph = devices_.end_capture(0);
  EXPECT_EQ(get(0, sum), 0);
  devices_.replay(0, graph);
  devices_.replay(0, graph);
  devices_.drop(graph);
  EXPECT_EQ(get(0, sum), 10 + 20);
}

TEST_F(CudaDevicesTest, SayWhatACaptureMayNotHold) {
  std::byte* const part = put(1, 5);
  devices_.begin_capture(0);
  devices_.record(0, 0);
  devices_.wait(1, 0);
  add(1, part, part);
  EXPECT_TRUE(
      has(complaint_of<DeviceError>([&] { devices_.end_capture(0); }), "StreamCaptureUnjoined"));

  devices_.record(1, 1);
  devices_.begin_capture(0);
  EXPECT_TRUE(
      has(complaint_of<DeviceError>([&] { devices_.wait(0, 1); }), "StreamCaptureIsolation"));
  EXPECT_TRUE(
      has(complaint_of<DeviceError>([&] { devices_.synchronize(); }), "StreamCaptureUnsupported"));
  EXPECT_TRUE(
      has(complaint_of<DeviceError>([&] { devices_.end_capture(0); }), "StreamCaptureInvalidated"));
  EXPECT_EQ(get(1, part), 5);
  EXPECT_TRUE(devices_.still_work());
}

TEST_F(CudaDevicesTest, WorkIsGivenToTheStreamsOwnDeviceOnly) {
  // Ranks 0 and 2 are on the first device, rank 1 is on the second.
  cudaStream_t stream = devices_.use(1);
  std::byte* const memory = put(0, 1);
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(memory, memory, 4, cudaMemcpyDefault, stream), cudaSuccess)
      << "copies go into the stream of any device";
  EXPECT_EQ(cudaEventRecord(event, stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
}

TEST_F(CudaDevicesTest, CopiesStayWithinWhatWasAllocated) {
  void* memory = nullptr;
  std::array<std::byte, 9> here{};
  cudaStream_t stream = devices_.use(0);
  ASSERT_EQ(cudaMalloc(&memory, 8), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(memory, here.data(), 9, cudaMemcpyHostToDevice, stream),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyAsync(memory, here.data(), 8, cudaMemcpyDeviceToHost, stream),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaErrorInvalidValue);
}

TEST_F(CudaDevicesTest, MemoryIsClosedToTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::byte* const there = put(0, 1);
  EXPECT_DEATH(static_cast<void>(*static_cast<const volatile std::byte*>(there)), "");
}

/// A device with one MiB of memory.
struct SmallDevice {
  SmallDevice() { cluster.begin(std::array{0}); }

  int has_one_mib = ::setenv("RANKCHECK_STAND_IN_MIB", "1", 1);
  Devices devices{1};
  CudaCluster cluster{devices, reference::contract_named, algorithm_for};
};

/// Allocates `bytes` while a transform's plan holds a quarter of the device. Exits with 0 if all
/// values are right, 1 if memory is short, 2 for wrong values.
[[noreturn]] void allocate_beside_a_plan(std::int64_t bytes) {
  SmallDevice small;
  auto& [set, devices, cluster] = small;
  constexpr std::int64_t pixels = 32 << 10;
  const std::vector<float> ones(2 * pixels, 1);
  const auto frame_bytes = static_cast<std::int64_t>(ones.size() * sizeof(float));
  std::byte* const frames = devices.allocate(0, frame_bytes);
  devices.write(0, ones.data(), frames, frame_bytes);
  constexpr std::int64_t pixels_of_frame = 4;
  const Transform transform{
      .precision = spec::Type::f32, .width = 2, .batch = pixels / pixels_of_frame};
  cluster.transform(0, transform, frames, frames);
  try {
    devices.allocate(0, bytes);
  } catch (const DeviceError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::exit(1);
  }
  // The plan's remaining work is done, and the next call makes a new plan.
  cluster.transform(0, {.precision = spec::Type::f32, .width = 2, .batch = 1}, frames, frames);
  std::vector<float> got(ones.size());
  devices.read(0, frames, got.data(), frame_bytes);
  // The first pixel of each frame holds the frame's sum. The first frame was transformed twice.
  std::vector<float> wanted(ones.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    constexpr std::size_t numbers_of_frame = 2 * pixels_of_frame;
    wanted[i] = i < numbers_of_frame || i % numbers_of_frame < 2 ? 4 : 0;
  }
  std::exit(got == wanted ? 0 : 2);
}

TEST(CudaMemoryTest, IsTakenFromPlansThatAreOnlyKept) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(allocate_beside_a_plan(600 << 10), testing::ExitedWithCode(0), "");
}

/// Makes plans that take a quarter of the device each. Exits with 0, or with 1 if memory is short.
[[noreturn]] void make_many_plans(spec::Type precision) {
  SmallDevice small;
  auto& [set, devices, cluster] = small;
  constexpr std::int64_t bytes = 256 << 10;
  std::byte* const frames = devices.allocate(0, bytes);
  const std::int64_t batch = bytes / (std::int64_t{4} * 2 * spec::info(precision).bytes);
  try {
    for (std::int64_t less = 0; less < 6; ++less) {
      cluster.transform(
          0, {.precision = precision, .width = 2, .batch = batch - less}, frames, frames);
    }
  } catch (const DeviceError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::exit(1);
  }
  std::exit(0);
}

/// The stand-in's cuFFT reports short memory by another code for each precision.
TEST(CudaMemoryTest, OfPlansIsTakenForFurtherOnes) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(make_many_plans(spec::Type::f32), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(make_many_plans(spec::Type::f64), testing::ExitedWithCode(0), "");
}

TEST(CudaMemoryTest, IsShortInOneLine) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(allocate_beside_a_plan(900 << 10),
              testing::ExitedWithCode(1),
              "^out of memory: device 0 has [0-9]+ bytes left of 1048576, expected 921600\n$");
}

}  // namespace
}  // namespace rankcheck::gpu::cuda
