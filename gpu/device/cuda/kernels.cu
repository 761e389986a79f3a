#include <algorithm>

#include "reference/spec/to_size.hpp"

#include "gpu/device/cuda/kernels.cuh"
#include "gpu/device/cuda/start.cuh"
#include "gpu/device/reduce.hpp"

namespace rankcheck::gpu::cuda {

namespace {

constexpr int block_threads = 256;
/// Enough blocks to fill any device. If there are more elements than threads, each thread processes
/// several.
constexpr std::int64_t blocks_max = 4096;

template <spec::ReduceOp op, class T>
__global__ void __launch_bounds__(block_threads)
    reduce_kernel(const __grid_constant__ reduce_pass::Pass pass, reduce_pass::Cut cut) {
  reduce_pass::reduce<op, T>(pass,
                             cut,
                             std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x,
                             std::int64_t{gridDim.x} * blockDim.x);
}

template <spec::ReduceOp op, class T>
cudaError_t enqueue(const reduce_pass::Pass& pass, cudaStream_t stream) {
  const reduce_pass::Cut cut = reduce_pass::cut<T>(pass);
  const std::int64_t singles = pass.count - cut.packs * reduce_pass::Pack<T>::lanes;
  const std::int64_t pieces = std::max(cut.packs, singles);
  const std::int64_t blocks = std::min(blocks_max, (pieces + block_threads - 1) / block_threads);
  return start(
      reduce_kernel<op, T>, static_cast<unsigned>(blocks), block_threads, stream, pass, cut);
}

}  // namespace

cudaError_t combine(spec::Type type,
                    spec::ReduceOp op,
                    std::byte* destination,
                    std::span<const Source> sources,
                    std::int64_t count,
                    int divisor,
                    cudaStream_t stream) {
  if (sources.empty() || sources.size() > reduce_pass::sources_max || count < 0)
    return cudaErrorInvalidValue;
  if (count == 0) return cudaSuccess;
  if (sources.size() == 1 && sources.front().scalar == nullptr && divisor == 1) {
    if (sources.front().data == destination) return cudaSuccess;
    const auto bytes = spec::to_size(count * spec::info(type).bytes);
    return cudaMemcpyAsync(destination, sources.front().data, bytes, cudaMemcpyDefault, stream);
  }
  const reduce_pass::Pass pass =
      reduce_pass::make_pass(type, op, destination, sources, count, divisor);
  cudaError_t code = cudaErrorInvalidValue;
  element::visit_values(type, op, [&](auto stored, auto pairwise) {
    code = enqueue<pairwise(), decltype(stored)>(pass, stream);
  });
  return code;
}

}  // namespace rankcheck::gpu::cuda
