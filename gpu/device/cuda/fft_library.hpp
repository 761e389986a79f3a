#pragma once

#include <string>

#include <cufft.h>

#include "gpu/device/vendor_library.hpp"

/// The functions of cuFFT that this program uses.
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
  /// Each function under its own name.
  struct Functions {
#define RANKCHECK_CUFFT_DECLARE(name) decltype(&::name) name = nullptr;
    RANKCHECK_CUFFT_FUNCTIONS(RANKCHECK_CUFFT_DECLARE)
#undef RANKCHECK_CUFFT_DECLARE
  };

  /// Throws DeviceError with one line if cuFFT cannot be loaded.
  explicit FftLibrary(const SearchPlaces& places);

  [[nodiscard]] const Functions* operator->() const {
    return &functions_;
  }
  /// For example "12.0.0".
  [[nodiscard]] std::string version_text() const;
  /// The file that was loaded, and why this file.
  [[nodiscard]] std::string text() const {
    return loaded_.text();
  }

 private:
  LoadedLibrary loaded_;
  Functions functions_;
};

/// The cuFFT of this process. The first call loads it. Throws DeviceError with one line if it
/// cannot be loaded.
[[nodiscard]] const FftLibrary& fft_library();

}  // namespace rankcheck::gpu::cuda
