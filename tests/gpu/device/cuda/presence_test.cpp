#include "gpu/device/cuda/presence.hpp"

#include <cstdlib>
#include <map>
#include <string>

#include <gtest/gtest.h>

/// Tests how the runtime's answers are interpreted. Here the stand-in gives the answers.
namespace rankcheck::gpu::cuda {
namespace {

/// Exits with status 1 if all of the first `devices` of three devices have NVLink, else with 0.
[[noreturn]] void look_for_nvlink(const char* fault, int devices) {
  ::setenv("RANKCHECK_STAND_IN_DEVICES", "3", 1);
  ::setenv("RANKCHECK_STAND_IN", fault, 1);
  std::exit(all_have_nvlink(devices) ? 1 : 0);
}

TEST(CudaPresenceTest, SaysWhatMendsWhatCudaBeginsWith) {
  const std::map<int, std::string> expected{{3, "/dev/nvidia*"},
                                            {34, "stubs"},
                                            {35, "install one for CUDA 13.0 or newer"},
                                            {100, "CUDA_VISIBLE_DEVICES"},
                                            {101, "--gpus all"},
                                            {304, "/dev/nvidia*"},
                                            {802, "nvidia-fabricmanager"},
                                            {803, "restart the machine"},
                                            {804, "cuda-compat"},
                                            {999, "/dev/nvidia*"}};
  for (const auto& [code, remedy] : expected) {
    const std::string why = why_none(static_cast<cudaError_t>(code), 1, 12040);
    EXPECT_NE(why.find(remedy), std::string::npos) << code << ": " << why;
    EXPECT_EQ(why.find('\n'), std::string::npos) << why;
  }
  EXPECT_EQ(why_none(static_cast<cudaError_t>(802), 0, 13000),
            "CUDA: system not yet initialized (802): on a machine with NVSwitch, install and start "
            "nvidia-fabricmanager of the driver's version (systemctl start nvidia-fabricmanager)");
  EXPECT_EQ(why_none(cudaErrorMemoryAllocation, 0, 13000), "CUDA: out of memory (2)");
  EXPECT_NE(why_none(cudaSuccess, 0, 13000).find("finds no device"), std::string::npos);
  EXPECT_EQ(why_none(cudaSuccess, 1, 13000), "");
  EXPECT_EQ(why_none(cudaErrorInsufficientDriver, 0, 0).find("no NVIDIA driver is installed"), 0U);
  EXPECT_NE(why_none(cudaErrorInsufficientDriver, 0, 12040).find("it supports CUDA 12.4"),
            std::string::npos);
}

TEST(CudaPresenceTest, HasNvlinkWhereEveryPairInUseHas) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(look_for_nvlink("none", 3), testing::ExitedWithCode(1), "");
  EXPECT_EXIT(look_for_nvlink("no_atomics", 2), testing::ExitedWithCode(0), "");
  // Native atomics are missing in one direction, between one device and the others.
  EXPECT_EXIT(look_for_nvlink("no_atomics_of_last", 3), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(look_for_nvlink("no_atomics_of_last", 2), testing::ExitedWithCode(1), "");
}

}  // namespace
}  // namespace rankcheck::gpu::cuda
