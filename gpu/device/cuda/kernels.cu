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

cudaError_t combine(const Combination& what, cudaStream_t stream) {
  const std::size_t sources = what.sources.size();
  if (sources == 0 || sources > reduce_pass::sources_max || what.count < 0)
    return cudaErrorInvalidValue;
  if (what.count == 0) return cudaSuccess;
  const Source& first = what.sources.front();
  if (sources == 1 && first.scalar == nullptr && what.divisor == 1) {
    if (first.data == what.destination) return cudaSuccess;
    const auto bytes = spec::to_size(what.count * spec::info(what.type).bytes);
    return cudaMemcpyAsync(what.destination, first.data, bytes, cudaMemcpyDefault, stream);
  }
  const reduce_pass::Pass pass = reduce_pass::make_pass(what);
  cudaError_t code = cudaErrorInvalidValue;
  element::visit_values(what.type, what.op, [&](auto stored, auto pairwise) {
    code = enqueue<pairwise(), decltype(stored)>(pass, stream);
  });
  return code;
}

}  // namespace rankcheck::gpu::cuda
