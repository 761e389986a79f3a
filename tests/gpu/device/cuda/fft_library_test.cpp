#include "gpu/device/cuda/fft_library.hpp"

#include <string>

#include <gtest/gtest.h>

#include "gpu/device/cluster.hpp"

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
  EXPECT_TRUE(text.starts_with("0.0.0 ")) << text;
  EXPECT_NE(text.find("libcufft.so.0 (found by the dynamic linker)"), std::string::npos) << text;
}

TEST(CudaFftLibraryTest, SaysInALineWhyItIsNone) {
  EXPECT_EQ(text_of("/nowhere/libcufft.so.12"),
            "cuFFT cannot be loaded: /nowhere/libcufft.so.12: cannot open shared object file: No "
            "such file or directory: install the CUDA Toolkit, run `pip install nvidia-cufft`, or "
            "name its file with --cufft-library PATH");
  const std::string other = text_of("libm.so.6");
  EXPECT_NE(other.find("libm.so.6: not cuFFT: it has no function cufftPlanMany: "),
            std::string::npos)
      << other;
}

}  // namespace
}  // namespace rankcheck::gpu::cuda
