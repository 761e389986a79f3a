#include <algorithm>

#include "gpu/device/cuda/kernels.cuh"
#include "gpu/device/element.hpp"

namespace rankcheck::gpu::cuda {

namespace {

constexpr int block_threads = 256;
/// Enough blocks to fill any device; a thread strides over the rest.
constexpr std::int64_t blocks_max = 4096;

/// What a launch needs, by value: nothing on the host has to outlive it.
struct Launch {
  std::byte* destination = nullptr;
  std::int64_t count = 0;
  int divisor = 1;
  int source_count = 0;
  Source sources[sources_max];
};

template <class T>
bool is_aligned(const std::byte* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % alignof(T) == 0;
}

/// Element `i`: one memory transaction where the buffer is aligned, else a byte at a time.
template <class T, bool aligned>
__device__ T load(const std::byte* data, std::int64_t i) {
  if constexpr (aligned) {
    return reinterpret_cast<const T*>(data)[i];
  } else {
    return element::load<T>(data + i * static_cast<std::int64_t>(sizeof(T)));
  }
}

template <class T, bool aligned>
__device__ void store(std::byte* data, std::int64_t i, T value) {
  if constexpr (aligned) {
    reinterpret_cast<T*>(data)[i] = value;
  } else {
    element::store<T>(data + i * static_cast<std::int64_t>(sizeof(T)), value);
  }
}

/// Element `i` of a source, multiplied by the source's scalar, as a value to compute with.
template <class T, bool aligned>
__device__ auto read(const Source& source, std::int64_t i) {
  using A = element::Arithmetic<T>;
  const auto value = A::widen(load<T, aligned>(source.data, i));
  if (source.scalar == nullptr) return value;
  return A::round(element::multiply(value, A::widen(element::load<T>(source.scalar))));
}

template <spec::ReduceOp op, class T, bool aligned>
__global__ void combine_kernel(const __grid_constant__ Launch launch) {
  using A = element::Arithmetic<T>;
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::int64_t i = first; i < launch.count; i += stride) {
    auto total = read<T, aligned>(launch.sources[0], i);
    for (int s = 1; s < launch.source_count; ++s) {
      total = A::round(element::combine<op>(total, read<T, aligned>(launch.sources[s], i)));
    }
    if (launch.divisor != 1) total = element::divide(total, launch.divisor);
    store<T, aligned>(launch.destination, i, A::narrow(total));
  }
}

template <spec::ReduceOp op, class T>
void enqueue(const Launch& launch, cudaStream_t stream) {
  const std::int64_t blocks =
      std::min(blocks_max, (launch.count + block_threads - 1) / block_threads);
  const auto grid = static_cast<unsigned>(blocks);
  const bool aligned = is_aligned<T>(launch.destination) &&
                       std::all_of(launch.sources,
                                   launch.sources + launch.source_count,
                                   [](const Source& source) { return is_aligned<T>(source.data); });
  if (aligned) {
    combine_kernel<op, T, true><<<grid, block_threads, 0, stream>>>(launch);
  } else {
    combine_kernel<op, T, false><<<grid, block_threads, 0, stream>>>(launch);
  }
}

}  // namespace

cudaError_t combine(spec::Type type,
                    spec::ReduceOp op,
                    std::byte* destination,
                    std::span<const Source> sources,
                    std::int64_t count,
                    int divisor,
                    cudaStream_t stream) {
  if (sources.empty() || sources.size() > sources_max || count < 0) return cudaErrorInvalidValue;
  if (count == 0) return cudaSuccess;
  if (sources.size() == 1 && sources.front().scalar == nullptr && divisor == 1) {
    if (sources.front().data == destination) return cudaSuccess;
    const auto bytes = static_cast<std::size_t>(count * spec::info(type).bytes);
    return cudaMemcpyAsync(destination, sources.front().data, bytes, cudaMemcpyDefault, stream);
  }
  Launch launch;
  launch.destination = destination;
  launch.count = spec::is_complex(type) ? 2 * count : count;
  launch.divisor = divisor;
  launch.source_count = static_cast<int>(sources.size());
  std::copy(sources.begin(), sources.end(), launch.sources);
  const bool reduces = element::visit_component(type, [&](auto stored) {
    element::visit_pairwise(
        op, [&](auto pairwise) { enqueue<pairwise(), decltype(stored)>(launch, stream); });
  });
  return reduces ? cudaPeekAtLastError() : cudaErrorInvalidValue;
}

}  // namespace rankcheck::gpu::cuda
