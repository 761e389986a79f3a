#include <cuda_runtime_api.h>

#include "gpu/device/cuda/fft_library.hpp"

namespace rankcheck::gpu::cuda {

namespace {

LibraryRequest request() {
  // The Python packages for CUDA 12 have the number 12 in their name.
  const std::string package = CUDART_VERSION >= 13000 ? "nvidia-cufft" : "nvidia-cufft-cu12";
#define RANKCHECK_CUFFT_NAME(name) #name,
  return {cufft_library,
          "libcufft.so." + std::to_string(CUFFT_VER_MAJOR),
          {RANKCHECK_CUFFT_FUNCTIONS(RANKCHECK_CUFFT_NAME)},
          "install the CUDA Toolkit, run `pip install " + package + "`"};
#undef RANKCHECK_CUFFT_NAME
}

}  // namespace

FftLibrary::FftLibrary(const SearchPlaces& places)
    : loaded_(load_vendor_library(request(), places)) {
#define RANKCHECK_CUFFT_FIND(name) loaded_.find(functions_.name, #name);
  RANKCHECK_CUFFT_FUNCTIONS(RANKCHECK_CUFFT_FIND)
#undef RANKCHECK_CUFFT_FIND
}

std::string FftLibrary::version_text() const {
  int version = 0;
  if (functions_.cufftGetVersion(&version) != CUFFT_SUCCESS) return "unknown";
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 100) + "." +
         std::to_string(version % 100);
}

const FftLibrary& fft_library() {
  static const FftLibrary library(this_machine());
  return library;
}

}  // namespace rankcheck::gpu::cuda
