#pragma once

#include <string>

#include <cuda_runtime_api.h>

#include "gpu/device/cluster.hpp"

namespace rankcheck::gpu::cuda {

/// Throws DeviceError if a call of the runtime failed. `what` names the call.
inline void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  throw DeviceError(std::string(what) + ": " + cudaGetErrorString(code) + " (" +
                    cudaGetErrorName(code) + ")");
}

}  // namespace rankcheck::gpu::cuda
