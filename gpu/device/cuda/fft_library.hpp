#pragma once

#include <string>

#include <cufft.h>

#include "gpu/device/vendor_library.hpp"

/// The functions of cuFFT that are used here.
#define RANKCHECK_CUFFT_FUNCTIONS(USE) \
  USE(cufftPlanMany)                   \
  USE(cufftExecC2C)                    \
  USE(cufftExecZ2Z)                    \
  USE(cufftSetStream)                  \
  USE(cufftDestroy)                    \
  USE(cufftGetVersion)

namespace rankcheck::gpu::cuda {

/// cuFFT, loaded while the program runs.
class FftLibrary {
 public:
  /// Each under its own name.
  struct Functions {
#define RANKCHECK_CUFFT_DECLARE(name) decltype(&::name) name = nullptr;
    RANKCHECK_CUFFT_FUNCTIONS(RANKCHECK_CUFFT_DECLARE)
#undef RANKCHECK_CUFFT_DECLARE
  };

  /// Throws DeviceError with one line where cuFFT cannot be loaded.
  explicit FftLibrary(const SearchPlaces& places);

  [[nodiscard]] const Functions* operator->() const {
    return &functions_;
  }
  /// As people write it: "12.0.0".
  [[nodiscard]] std::string version_text() const;
  /// The file that was loaded, and why this one.
  [[nodiscard]] std::string text() const {
    return loaded_.text();
  }

 private:
  LoadedLibrary loaded_;
  Functions functions_;
};

/// The library of this process, which the first call loads. Throws DeviceError with one line where
/// it cannot be loaded.
[[nodiscard]] const FftLibrary& fft_library();

}  // namespace rankcheck::gpu::cuda
