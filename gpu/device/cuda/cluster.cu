#include <cstdint>
#include <limits>
#include <numeric>
#include <string>

#include "reference/spec/to_size.hpp"

#include "gpu/device/cuda/cluster.hpp"
#include "gpu/device/cuda/error.hpp"
#include "gpu/device/cuda/fft_library.hpp"

namespace rankcheck::gpu::cuda {

namespace {

void check_transform(cufftResult code, const char* what) {
  if (code == CUFFT_SUCCESS) return;
  throw DeviceError(std::string(what) + ": cuFFT error " + std::to_string(code));
}

cufftResult make_plan(const Transform& transform, cufftHandle& plan) {
  int sizes[] = {transform.width, transform.width};
  return fft_library()->cufftPlanMany(
      &plan,
      2,
      sizes,
      nullptr,
      1,
      0,
      nullptr,
      1,
      0,
      transform.precision == spec::Type::f64 ? CUFFT_Z2Z : CUFFT_C2C,
      static_cast<int>(transform.batch));
}

bool is_aligned(const Transform& transform, const void* values) {
  const auto bytes = static_cast<std::uintptr_t>(2 * spec::info(transform.precision).bytes);
  return reinterpret_cast<std::uintptr_t>(values) % bytes == 0;
}

std::size_t bytes_of(const Transform& transform) {
  return spec::to_size(transform.batch * transform.width * transform.width * 2 *
                       spec::info(transform.precision).bytes);
}

/// Enqueues the transform on the plan's stream. The caller has made the plan's device the current
/// one.
void execute(cufftHandle plan, const Transform& transform, const void* in, void* out) {
  const int direction = transform.inverse ? CUFFT_INVERSE : CUFFT_FORWARD;
  // cuFFT takes no pointer to const, but changes the input only if it is also the output.
  void* const from = const_cast<void*>(in);
  if (transform.precision == spec::Type::f64) {
    check_transform(fft_library()->cufftExecZ2Z(plan,
                                                static_cast<cufftDoubleComplex*>(from),
                                                static_cast<cufftDoubleComplex*>(out),
                                                direction),
                    "cufftExecZ2Z");
  } else {
    check_transform(
        fft_library()->cufftExecC2C(
            plan, static_cast<cufftComplex*>(from), static_cast<cufftComplex*>(out), direction),
        "cufftExecC2C");
  }
}

}  // namespace

CudaCluster::~CudaCluster() {
  devices_.when_short(nullptr);
  for (const auto& [key, plan] : transforms_) static_cast<void>(fft_library()->cufftDestroy(plan));
}

void CudaCluster::forget_transforms() {
  // The plans' work areas are freed too, so all work must be done first.
  devices_.synchronize();
  for (const auto& [key, plan] : transforms_)
    check_transform(fft_library()->cufftDestroy(plan), "cufftDestroy");
  transforms_.clear();
}

void CudaCluster::begin(std::span<const int> members) {
  devices_.begin(members);
  ranks_.resize(members.size());
  std::iota(ranks_.begin(), ranks_.end(), 0);
  scratch_.clear();
}

cufftHandle CudaCluster::plan_for(int rank, const Transform& transform) {
  const Key key{devices_.device_of(rank), transform.precision, transform.width, transform.batch};
  if (const auto found = transforms_.find(key); found != transforms_.end()) return found->second;
  if (transform.batch > std::numeric_limits<int>::max()) {
    throw DeviceError("cuFFT: a batch of " + std::to_string(transform.batch) + " is too large");
  }
  if (transforms_.size() == transforms_max) forget_transforms();
  cudaStream_t stream = devices_.use(rank);
  cufftHandle plan = 0;
  cufftResult code = make_plan(transform, plan);
  // cuFFT reports a lack of memory with either of these codes.
  if (code == CUFFT_ALLOC_FAILED || code == CUFFT_INTERNAL_ERROR) {
    // The work areas of other plans, or memory left over from earlier calls, may occupy the memory.
    static_cast<void>(cudaGetLastError());
    forget_transforms();
    devices_.give_back_free_memory(rank);
    devices_.use(rank);
    code = make_plan(transform, plan);
  }
  check_transform(code, "cufftPlanMany");
  transforms_[key] = plan;
  check_transform(fft_library()->cufftSetStream(plan, stream), "cufftSetStream");
  return plan;
}

void CudaCluster::copy_frames(int rank, const Transform& transform, const void* in, void* out) {
  if (in == out) return;
  cudaStream_t stream = devices_.use(rank);
  check(cudaMemcpyAsync(out, in, bytes_of(transform), cudaMemcpyDefault, stream),
        "cudaMemcpyAsync");
}

void CudaCluster::transform(int rank, const Transform& transform, const void* in, void* out) {
  if (transform.batch == 0 || transform.width == 0) return;
  if (transform.width == 1) return copy_frames(rank, transform, in, out);
  // cuFFT needs addresses that are multiples of a whole complex number. Our arrays may begin at any
  // component.
  const bool is_staged = !is_aligned(transform, in) || !is_aligned(transform, out);
  const std::size_t bytes = bytes_of(transform);
  // This allocation comes before the plan, because a shortage of memory destroys plans.
  std::byte* const staged =
      is_staged ? devices_.allocate(rank, static_cast<std::int64_t>(bytes)) : nullptr;
  const cufftHandle plan = plan_for(rank, transform);
  cudaStream_t stream = devices_.use(rank);
  if (!is_staged) {
    execute(plan, transform, in, out);
    return;
  }
  check(cudaMemcpyAsync(staged, in, bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
  execute(plan, transform, staged, staged);
  check(cudaMemcpyAsync(out, staged, bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
}

void CudaCluster::collective(std::string_view operation,
                             const spec::Call& call,
                             bool in_place,
                             std::span<const DeviceBuffers> buffers) {
  const plan::Options options{.in_place = in_place};
  const plan::Algorithm* const algorithm = algorithm_for_(operation, call, options);
  if (algorithm == nullptr) {
    throw DeviceError("no algorithm of " + std::string(operation) + " supports the call");
  }
  builder_.begin(plan_, contract_of_(operation), call, options);
  algorithm->plan(builder_);
  std::vector<RankMemory> memory;
  for (std::size_t r = 0; r < buffers.size(); ++r) {
    const std::int64_t bytes = plan_.scratch[r] * spec::info(call.type).bytes;
    std::byte* const scratch = bytes > 0 ? scratch_.get(static_cast<int>(r), bytes) : nullptr;
    memory.push_back({.send = buffers[r].send, .recv = buffers[r].recv, .scratch = scratch});
  }
  graphs_.enqueue({plan_, memory, devices_.members()});
}

}  // namespace rankcheck::gpu::cuda
