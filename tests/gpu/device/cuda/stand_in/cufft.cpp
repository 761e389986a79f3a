#include "tests/gpu/device/cuda/stand_in/cufft.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>

#include <fftw3.h>

#include "tests/gpu/device/cuda/stand_in/faults.hpp"
#include "tests/gpu/device/cuda/stand_in/memory.hpp"
#include "tests/gpu/device/cuda/stand_in/streams.hpp"

namespace {

using rankcheck::stand_in::is_planted;
namespace stand_in = rankcheck::stand_in;

/// FFTW's functions for one precision.
template <class Value>
struct Library;

template <>
struct Library<cufftComplex> {
  using Complex = fftwf_complex;
  static constexpr auto plan = fftwf_plan_many_dft;
  static constexpr auto execute = fftwf_execute_dft;
  static constexpr auto destroy = fftwf_destroy_plan;
};

template <>
struct Library<cufftDoubleComplex> {
  using Complex = fftw_complex;
  static constexpr auto plan = fftw_plan_many_dft;
  static constexpr auto execute = fftw_execute_dft;
  static constexpr auto destroy = fftw_destroy_plan;
};

struct Plan {
  cufftType type;
  int sizes[2];
  int batch;
  int device;
  cudaStream_t stream;
  /// Work area on the device. As in cuFFT, two transforms at once would corrupt each other's area.
  std::byte* area;
  std::size_t bytes;
};

std::map<cufftHandle, Plan>& plans() {
  static auto* const all = new std::map<cufftHandle, Plan>;
  return *all;
}

template <class Value>
void transform(const Plan& plan, Value* in, int sign) {
  using Fftw = Library<Value>;
  auto* const from = reinterpret_cast<typename Fftw::Complex*>(in);
  auto* const to = reinterpret_cast<typename Fftw::Complex*>(plan.area);
  const int pixels = plan.sizes[0] * plan.sizes[1];
  // With FFTW_ESTIMATE, the planner does not touch the memory.
  constexpr unsigned flags = FFTW_ESTIMATE | FFTW_PRESERVE_INPUT;
  auto* const made = Fftw::plan(
      2, plan.sizes, plan.batch, from, nullptr, 1, pixels, to, nullptr, 1, pixels, sign, flags);
  Fftw::execute(made, from, to);
  Fftw::destroy(made);
}

template <class Value>
cufftResult enqueue(cufftHandle handle, cufftType type, Value* in, Value* out, int direction) {
  const auto found = plans().find(handle);
  if (found == plans().end() || found->second.type != type) return CUFFT_INVALID_PLAN;
  const Plan& plan = found->second;
  if (plan.device != stand_in::current_device()) return CUFFT_INVALID_DEVICE;
  if (direction != CUFFT_FORWARD && direction != CUFFT_INVERSE) return CUFFT_INVALID_VALUE;
  if (stand_in::why_not(plan.stream) != cudaSuccess) return CUFFT_EXEC_FAILED;
  if (stand_in::owner_of(in, plan.bytes) < 0 || stand_in::owner_of(out, plan.bytes) < 0) {
    return CUFFT_INVALID_VALUE;
  }
  const auto is_whole = [](const Value* values) {
    return reinterpret_cast<std::uintptr_t>(values) % sizeof(Value) == 0;
  };
  if (!is_whole(in) || !is_whole(out)) return CUFFT_INVALID_VALUE;
  const std::uint64_t opens = stand_in::reach_of(plan.device);
  stand_in::enqueue(plan.stream, opens, [plan, in, direction] { transform(plan, in, direction); });
  stand_in::enqueue(plan.stream, opens, [plan, out] {
    std::memcpy(out, plan.area, plan.bytes);
    if (is_planted("scaled_transform")) out->x *= 2;
  });
  return CUFFT_SUCCESS;
}

}  // namespace

cufftResult cufftGetVersion(int* version) {
  *version = 1000 * CUFFT_VER_MAJOR;
  return CUFFT_SUCCESS;
}

cufftResult cufftPlanMany(cufftHandle* plan,
                          int rank,
                          int* n,
                          int* inembed,
                          int /*istride*/,
                          int /*idist*/,
                          int* onembed,
                          int /*ostride*/,
                          int /*odist*/,
                          cufftType type,
                          int batch) {
  if (rank != 2 || inembed != nullptr || onembed != nullptr) return CUFFT_INVALID_VALUE;
  if (type != CUFFT_C2C && type != CUFFT_Z2Z) return CUFFT_INVALID_TYPE;
  // NVIDIA's documentation does not say whether cuFFT accepts a size of 1.
  if (n[0] < 2 || n[1] < 2 || batch < 1) return CUFFT_INVALID_SIZE;
  if (stand_in::breaks_captures()) return CUFFT_ALLOC_FAILED;
  const std::size_t element = type == CUFFT_C2C ? sizeof(cufftComplex) : sizeof(cufftDoubleComplex);
  const std::size_t bytes = element * static_cast<std::size_t>(n[0]) *
                            static_cast<std::size_t>(n[1]) * static_cast<std::size_t>(batch);
  const int device = stand_in::current_device();
  std::byte* area = nullptr;
  for (const auto& [handle, each] : plans()) {
    const bool is_fit = each.device == device && each.bytes >= bytes;
    if (is_fit && is_planted("shared_area")) area = each.area;
  }
  if (area == nullptr) area = stand_in::allocate(device, bytes);
  if (area == nullptr) return type == CUFFT_C2C ? CUFFT_ALLOC_FAILED : CUFFT_INTERNAL_ERROR;
  static cufftHandle last = 0;
  *plan = ++last;
  plans()[*plan] = {type, {n[0], n[1]}, batch, device, nullptr, area, bytes};
  return CUFFT_SUCCESS;
}

cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) {
  const auto found = plans().find(plan);
  if (found == plans().end()) return CUFFT_INVALID_PLAN;
  found->second.stream = stream;
  return CUFFT_SUCCESS;
}

cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* in, cufftComplex* out, int direction) {
  return enqueue(plan, CUFFT_C2C, in, out, direction);
}

cufftResult cufftExecZ2Z(cufftHandle plan,
                         cufftDoubleComplex* in,
                         cufftDoubleComplex* out,
                         int direction) {
  return enqueue(plan, CUFFT_Z2Z, in, out, direction);
}

cufftResult cufftDestroy(cufftHandle plan) {
  const auto found = plans().find(plan);
  if (found == plans().end()) return CUFFT_INVALID_PLAN;
  // The area is released at once, so work that still runs goes wrong.
  static_cast<void>(stand_in::release(found->second.area));
  plans().erase(found);
  return CUFFT_SUCCESS;
}
