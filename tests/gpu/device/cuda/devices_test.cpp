#include "gpu/device/cuda/devices.hpp"

#include <array>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "gpu/device/cluster.hpp"

/// The devices of a process, and what the stand-in that they are made of here refuses.
namespace rankcheck::gpu::cuda {
namespace {

constexpr std::array<int, 3> all_ranks{0, 1, 2};

class CudaDevices : public testing::Test {
 protected:
  CudaDevices() { devices_.begin(all_ranks); }

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
    devices_.combine(rank, spec::Type::int32, spec::ReduceOp::sum, to, sources, 1, 1);
  }

  Devices devices_{3};
};

TEST_F(CudaDevices, WorkWaitsForEventsOfOtherStreams) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    devices_.begin(all_ranks);
    std::byte* const first = put(0, 1);
    std::byte* const second = put(1, 10);
    std::byte* const third = put(2, 100);
    add(1, second, first);
    devices_.record(1, 0);
    devices_.wait(2, 0);
    add(2, third, second);
    EXPECT_EQ(get(2, third), 111);
  }
}

TEST_F(CudaDevices, WithoutAnEventTheOrderIsAny) {
  bool was_late = false;
  for (int repeat = 0; repeat < 20; ++repeat) {
    devices_.begin(all_ranks);
    std::byte* const first = put(0, 1);
    std::byte* const second = put(1, 10);
    std::byte* const third = put(2, 100);
    add(1, second, first);
    add(2, third, second);
    was_late = was_late || get(2, third) == 110;
    devices_.synchronize();
  }
  EXPECT_TRUE(was_late);
}

TEST_F(CudaDevices, ReplaysAGraphAsOftenAsItIsLaunched) {
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

TEST_F(CudaDevices, SayWhatACaptureMayNotHold) {
  std::byte* const part = put(1, 5);
  const auto complaint = [](const auto& action) -> std::string {
    try {
      action();
    } catch (const DeviceError& error) {
      return error.what();
    }
    return "";
  };
  devices_.begin_capture(0);
  devices_.record(0, 0);
  devices_.wait(1, 0);
  add(1, part, part);
  EXPECT_NE(complaint([&] { devices_.end_capture(0); }).find("StreamCaptureUnjoined"),
            std::string::npos);

  devices_.record(1, 1);
  devices_.begin_capture(0);
  EXPECT_NE(complaint([&] { devices_.wait(0, 1); }).find("StreamCaptureIsolation"),
            std::string::npos);
  EXPECT_NE(complaint([&] { devices_.synchronize(); }).find("StreamCaptureUnsupported"),
            std::string::npos);
  EXPECT_NE(complaint([&] { devices_.end_capture(0); }).find("StreamCaptureInvalidated"),
            std::string::npos);
  EXPECT_EQ(get(1, part), 5);
  EXPECT_TRUE(devices_.still_work());
}

TEST_F(CudaDevices, WorkIsGivenToTheStreamsOwnDeviceOnly) {
  // Ranks 0 and 2 are on the first device, rank 1 on the second.
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

TEST_F(CudaDevices, CopiesStayWithinWhatWasAllocated) {
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

TEST_F(CudaDevices, MemoryIsClosedToTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::byte* const there = put(0, 1);
  EXPECT_DEATH(static_cast<void>(*static_cast<const volatile std::byte*>(there)), "");
}

}  // namespace
}  // namespace rankcheck::gpu::cuda
