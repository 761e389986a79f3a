#include <cstdint>

#include "gpu/device/cuda/error.hpp"
#include "gpu/device/cuda/planted_write.hpp"
#include "gpu/device/cuda/start.cuh"

namespace rankcheck::gpu::cuda {

namespace {

__global__ void write_behind_kernel(std::uint64_t* memory, std::int64_t words) {
  if (blockIdx.x == 0 && threadIdx.x == 0) memory[words] = 0;
}

}  // namespace

void write_out_of_bounds() {
  constexpr std::int64_t words = 64;
  void* memory = nullptr;
  check(cudaSetDevice(0), "cudaSetDevice");
  check(cudaMalloc(&memory, words * sizeof(std::uint64_t)), "cudaMalloc");
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  check(start(write_behind_kernel, 1U, 1U, stream, static_cast<std::uint64_t*>(memory), words),
        "write_behind_kernel");
  // A sanitizer may have ended the kernel, after which every call fails.
  static_cast<void>(cudaStreamSynchronize(stream));
  static_cast<void>(cudaFree(memory));
  static_cast<void>(cudaStreamDestroy(stream));
}

}  // namespace rankcheck::gpu::cuda
