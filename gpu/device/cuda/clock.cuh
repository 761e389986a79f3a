#pragma once

#include <cstdint>
#include <ctime>

namespace rankcheck::gpu::cuda {

/// Nanoseconds of a clock that all threads share: the device's global timer, or the system clock if
/// kernels run as loops on the host.
__host__ __device__ inline std::int64_t clock_ns() {
#if defined(__CUDA_ARCH__)
  std::int64_t now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
#else
  std::timespec now{};
  static_cast<void>(std::timespec_get(&now, TIME_UTC));
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
#endif
}

}  // namespace rankcheck::gpu::cuda
