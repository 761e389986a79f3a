#include "gpu/device/driver_release.hpp"

#include <gtest/gtest.h>

namespace rankcheck::gpu {
namespace {

TEST(DriverReleaseTest, IsTheNumberInTheFirstLine) {
  EXPECT_EQ(driver_release_in("NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Mon Jan "
                              "5 10:11:12 UTC 2026\nGCC version:  gcc version 13.3.0 (Ubuntu)\n"),
            "580.159.04");
  EXPECT_EQ(driver_release_in("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86  "
                              "Release Build  (dvs-builder)\n"),
            "570.86");
}

TEST(DriverReleaseTest, IsEmptyIfThereIsNone) {
  EXPECT_EQ(driver_release_in(""), "");
  EXPECT_EQ(driver_release_in("NVRM version: unknown\n"), "");
}

}  // namespace
}  // namespace rankcheck::gpu
