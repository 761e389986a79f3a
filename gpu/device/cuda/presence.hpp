#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include <cuda_runtime_api.h>

#include "gpu/device/cuda/error.hpp"

/// Finds the CUDA devices of this machine. Usable by all code that is linked with the CUDA runtime,
/// compiled by nvcc or not.
namespace rankcheck::gpu::cuda {

/// The remedy for an error of CUDA's initialisation. Errors are numbers because older versions of
/// CUDA lack the names.
struct Remedy {
  int code;
  const char* text;
};

/// The texts follow the descriptions of these errors in CUDA's reference.
inline constexpr const char* open_the_devices =
    "check nvidia-smi, whether this user may read and write /dev/nvidia*, and, in a container, "
    "whether it was started with GPUs (docker run --gpus all)";
inline constexpr Remedy remedies[] = {
    // cudaErrorInitializationError
    {3, open_the_devices},
    // cudaErrorStubLibrary
    {34,
     "the CUDA Toolkit's stub of the driver's library is loaded: remove its folder (lib64/stubs) "
     "from LD_LIBRARY_PATH"},
    // cudaErrorInvalidDevice
    {101, open_the_devices},
    // cudaErrorOperatingSystem
    {304, open_the_devices},
    // cudaErrorSystemNotReady
    {802,
     "on a machine with NVSwitch, install and start nvidia-fabricmanager of the driver's version "
     "(systemctl start nvidia-fabricmanager)"},
    // cudaErrorSystemDriverMismatch
    {803,
     "the kernel driver and its library have different versions: restart the machine, or "
     "install the driver again"},
    // cudaErrorCompatNotSupportedOnDevice
    {804,
     "CUDA's compatibility library (cuda-compat) does not work with this device: remove it from "
     "LD_LIBRARY_PATH and install a newer driver, or hide the device with CUDA_VISIBLE_DEVICES"},
    // cudaErrorUnknown
    {999, open_the_devices},
};

/// For example "13.0". `version` has the runtime's form, 1000 * major + 10 * minor.
inline std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// Says why no device can be used and how to fix it; empty if some can. `code` and `count` are
/// the answer of cudaGetDeviceCount(), `driver` is the answer of cudaDriverGetVersion().
inline std::string why_none(cudaError_t code, int count, int driver) {
  if (code == cudaErrorInsufficientDriver && driver == 0) {
    return "no NVIDIA driver is installed: install one for CUDA " + version_text(CUDART_VERSION) +
           " or newer; a container needs docker run --gpus all";
  }
  if (code == cudaErrorInsufficientDriver) {
    return "the NVIDIA driver is too old, it supports CUDA " + version_text(driver) +
           ": install one for CUDA " + version_text(CUDART_VERSION) + " or newer";
  }
  if (code == cudaErrorNoDevice || (code == cudaSuccess && count == 0)) {
    return "the NVIDIA driver finds no device: check nvidia-smi and CUDA_VISIBLE_DEVICES";
  }
  if (code == cudaSuccess) return {};
  const std::string what = std::string("CUDA: ") + cudaGetErrorString(code) + " (" +
                           std::to_string(static_cast<int>(code)) + ")";
  const auto* const found =
      std::find_if(std::begin(remedies), std::end(remedies), [code](const Remedy& each) {
        return static_cast<cudaError_t>(each.code) == code;
      });
  return found == std::end(remedies) ? what : what + ": " + found->text;
}

/// The devices that this process sees.
struct Presence {
  int devices = 0;
  /// Says why no device can be used and how to fix it; empty if some can.
  std::string why_none = {};
};
inline Presence find_devices() {
  int count = 0;
  int driver = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  // The version is 0 if no driver is installed.
  static_cast<void>(cudaDriverGetVersion(&driver));
  std::string why = why_none(code, count, driver);
  if (!why.empty()) return {.why_none = std::move(why)};
  return {.devices = count};
}

/// Whether each of the first `devices` devices has atomic operations on the memory of every other
/// one. NVLink has them, PCIe has not. True for one device, which has no peers. Throws DeviceError.
inline bool all_have_nvlink(int devices) {
  for (int from = 0; from < devices; ++from) {
    for (int to = 0; to < devices; ++to) {
      if (from == to) continue;
      int has = 0;
      check(cudaDeviceGetP2PAttribute(&has, cudaDevP2PAttrNativeAtomicSupported, from, to),
            "cudaDeviceGetP2PAttribute");
      if (has == 0) return false;
    }
  }
  return true;
}

}  // namespace rankcheck::gpu::cuda
