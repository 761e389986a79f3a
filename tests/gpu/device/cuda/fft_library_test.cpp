#include "gpu/device/cuda/fft_library.hpp"

#include <string>

#include <gtest/gtest.h>

#include "gpu/device/cluster.hpp"

#include "tests/harness/text.hpp"

namespace rankcheck::gpu::cuda {
namespace {

std::string text_of(const std::string& named) {
  const auto variable = [&](std::string_view name) {
    return name == cufft_library.variable ? named : std::string();
  };
  try {
    const FftLibrary library({.variable = variable, .root = "/nowhere"});
    return library.version_text() + " " + library.text();
  } catch (const DeviceError& error) {
    return error.what();
  }
}

TEST(CudaFftLibraryTest, IsTheOneOfTheHeadersVersion) {
  const std::string text = text_of("");
  EXPECT_TRUE(harness::begins(text, "0.0.0 "));
  EXPECT_TRUE(harness::has(text, "libcufft.so.0 (found by the dynamic linker)"));
}

TEST(CudaFftLibraryTest, SaysInALineWhyItIsNone) {
  EXPECT_EQ(text_of("/nowhere/libcufft.so.12"),
            "cuFFT cannot be loaded: /nowhere/libcufft.so.12: cannot open shared object file: No "
            "such file or directory: install the CUDA Toolkit, run `pip install nvidia-cufft`, or "
            "name its file with --cufft-library PATH");
  EXPECT_TRUE(harness::has(text_of("libm.so.6"),
                           "libm.so.6: not cuFFT: it has no function cufftPlanMany: "));
}

}  // namespace
}  // namespace rankcheck::gpu::cuda
