#pragma once

/// The parts of CUDA C++ that this project uses and C++ lacks; see cuda_runtime_api.h.

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "cuda_runtime_api.h"

/// 10 times the compute capability of the stand-in's devices.
#define __CUDA_ARCH_LIST__ 0

#define __host__
#define __device__
#define __global__
#define __grid_constant__
#define __launch_bounds__(...)

struct uint3 {
  unsigned x;
  unsigned y;
  unsigned z;
};

struct dim3 {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
  dim3() = default;
  dim3(unsigned count) : x(count) {}
};

inline thread_local uint3 blockIdx{};
inline thread_local uint3 threadIdx{};
inline thread_local uint3 blockDim{};
inline thread_local uint3 gridDim{};

struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
};

namespace rankcheck::stand_in {

/// Enqueues a call of `thread` for each thread of a grid.
cudaError_t launch(const cudaLaunchConfig_t& config, std::function<void()> thread);

}  // namespace rankcheck::stand_in

/// Copies the arguments before it returns, as CUDA does.
template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config,
                               void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  return rankcheck::stand_in::launch(
      *config, [kernel, values = std::tuple<Parameters...>(std::forward<Arguments>(arguments)...)] {
        std::apply(kernel, values);
      });
}

// Threads of a grid run one after the other, so these functions need no atomic access.
template <class T>
T atomicAdd(T* at, T value) {
  return std::exchange(*at, *at + value);
}
template <class T>
T atomicAdd_system(T* at, T value) {
  return atomicAdd(at, value);
}
template <class T>
T atomicMin(T* at, T value) {
  return std::exchange(*at, std::min(*at, value));
}
