#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "tests/gpu/device/cuda/stand_in/faults.hpp"
#include "tests/gpu/device/cuda/stand_in/memory.hpp"
#include "tests/gpu/device/cuda/stand_in/streams.hpp"

namespace rankcheck::stand_in {

namespace {

thread_local int device_now = 0;
thread_local cudaError_t last_error = cudaSuccess;
/// Every call answers this error after a kernel has failed.
cudaError_t sticky_error = cudaSuccess;

constexpr auto cuda_error_system_not_ready = static_cast<cudaError_t>(802);

struct Words {
  cudaError_t code;
  const char* name;
  /// CUDA's text if a test reads it.
  const char* text = "an error of the stand-in";
};

constexpr Words words[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver"},
    {cudaErrorNoDevice, "cudaErrorNoDevice"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle"},
    {cudaErrorNotReady, "cudaErrorNotReady"},
    {cudaErrorIllegalAddress,
     "cudaErrorIllegalAddress",
     "an illegal memory access was encountered"},
    {cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled"},
    {cudaErrorNotSupported, "cudaErrorNotSupported"},
    {cuda_error_system_not_ready, "cudaErrorSystemNotReady", "system not yet initialized"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated"},
    {cudaErrorStreamCaptureMerge, "cudaErrorStreamCaptureMerge"},
    {cudaErrorStreamCaptureUnmatched, "cudaErrorStreamCaptureUnmatched"},
    {cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined"},
    {cudaErrorStreamCaptureIsolation, "cudaErrorStreamCaptureIsolation"},
    {cudaErrorCapturedEvent, "cudaErrorCapturedEvent"},
};

const Words& words_of(cudaError_t code) {
  static constexpr Words unknown{cudaSuccess, "unknown", "unrecognized error code"};
  for (const Words& each : words) {
    if (each.code == code) return each;
  }
  return unknown;
}

bool is_device(int device) {
  return device >= 0 && device < device_count();
}

std::uint64_t bit(int device) {
  return device < 0 ? 0 : std::uint64_t{1} << device;
}

/// Copies when the stream reaches this work. CUDA promises nothing earlier, so even this program's
/// memory is read late.
cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  const std::uint64_t opens = bit(owner_of(to, bytes)) | bit(owner_of(from, bytes));
  if (is_planted("short_copy") && bytes > 0) --bytes;
  if (is_planted("long_copy") && owner_of(to, bytes + 1) >= 0) ++bytes;
  enqueue(
      stream, opens, [=] { std::memcpy(to, from, bytes); }, true);
  return cudaSuccess;
}

}  // namespace

cudaError_t answer(cudaError_t code) {
  if (sticky_error != cudaSuccess) return sticky_error;
  if (code != cudaSuccess) last_error = code;
  return code;
}

void break_devices(cudaError_t code) {
  sticky_error = code;
}

int current_device() {
  return device_now;
}

extern "C" {

const char* cudaGetErrorName(cudaError_t error) {
  return words_of(error).name;
}

const char* cudaGetErrorString(cudaError_t error) {
  return words_of(error).text;
}

cudaError_t cudaGetLastError() {
  return std::exchange(last_error, cudaSuccess);
}

/// Tells linked programs that this is not CUDA.
int rankcheck_cuda_on_host();
int rankcheck_cuda_on_host() {
  return 1;
}

/// Copies from or to a device, and waits for the copy. For libraries that take addresses of devices
/// and are not linked with the program.
void rankcheck_cuda_copy(void* to, const void* from, std::size_t bytes);
void rankcheck_cuda_copy(void* to, const void* from, std::size_t bytes) {
  static cudaStream_t stream = [] {
    cudaStream_t made = nullptr;
    if (cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking) != cudaSuccess) std::abort();
    return made;
  }();
  const cudaError_t given = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream);
  if (given != cudaSuccess || cudaStreamSynchronize(stream) != cudaSuccess) std::abort();
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = is_planted("no_driver") ? 0 : is_planted("old_driver") ? 12040 : CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  if (is_planted("no_driver") || is_planted("old_driver")) {
    return answer(cudaErrorInsufficientDriver);
  }
  if (is_planted("not_ready")) return answer(cuda_error_system_not_ready);
  *count = device_count();
  return answer(*count == 0 ? cudaErrorNoDevice : cudaSuccess);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (!is_device(device)) return answer(cudaErrorInvalidDevice);
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "stand-in, on this host");
  properties->totalGlobalMem = memory_bytes();
  if (is_planted("too_old")) properties->major = -1;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int room, int device) {
  if (!is_device(device)) return answer(cudaErrorInvalidDevice);
  const int length =
      std::snprintf(text, static_cast<std::size_t>(room), "stand-in %d", physical_number(device));
  return answer(length < room ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaSetDevice(int device) {
  if (!is_device(device)) return answer(cudaErrorInvalidDevice);
  device_now = device;
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  if (breaks_captures()) return answer(cudaErrorStreamCaptureUnsupported);
  Scheduler::get().finish_device(device_now);
  expect_guards(device_now);
  return answer(cudaSuccess);
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (!is_device(device) || !is_device(peer)) return answer(cudaErrorInvalidDevice);
  *can = device == peer || is_planted("no_reach") ? 0 : 1;
  return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  if (flags != 0) return answer(cudaErrorInvalidValue);
  if (!is_device(peer) || peer == device_now) return answer(cudaErrorInvalidDevice);
  return answer(let_reach(device_now, peer) ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled);
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr what, int from, int to) {
  if (!is_device(from) || !is_device(to) || from == to) return answer(cudaErrorInvalidDevice);
  const bool is_last = std::max(from, to) == device_count() - 1;
  const bool is_without =
      is_planted("no_atomics") || (is_planted("no_atomics_of_last") && is_last && from < to);
  *value = what == cudaDevP2PAttrNativeAtomicSupported && !is_without ? 1 : 0;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  if (breaks_captures()) return answer(cudaErrorStreamCaptureUnsupported);
  *memory = bytes == 0 ? nullptr : allocate(device_now, bytes);
  return answer(bytes > 0 && *memory == nullptr ? cudaErrorMemoryAllocation : cudaSuccess);
}

cudaError_t cudaFree(void* memory) {
  if (memory == nullptr) return cudaSuccess;
  if (breaks_captures()) return answer(cudaErrorStreamCaptureUnsupported);
  // CUDA documents "implicit synchronization" when memory from cudaMalloc() is freed.
  for (int d = 0; d < device_count(); ++d) Scheduler::get().finish_device(d);
  return answer(release(memory) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = free_bytes(device_now);
  *total = memory_bytes();
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(
    void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  if (stream == nullptr) return answer(cudaErrorNotSupported);
  const int to_device = owner_of(to, bytes);
  const int from_device = owner_of(from, bytes);
  const bool is_legal = to_device > -2 && from_device > -2 &&
                        (kind == cudaMemcpyDefault ||
                         (kind == cudaMemcpyHostToDevice ? to_device >= 0 && from_device < 0
                                                         : to_device < 0 && from_device >= 0));
  return is_legal ? copy(to, from, bytes, stream) : answer(cudaErrorInvalidValue);
}

cudaError_t cudaMemcpyPeerAsync(void* to,
                                int to_device,
                                const void* from,
                                int from_device,
                                std::size_t bytes,
                                cudaStream_t stream) {
  if (stream == nullptr) return answer(cudaErrorNotSupported);
  const bool is_legal = is_device(to_device) && owner_of(to, bytes) == to_device &&
                        is_device(from_device) && owner_of(from, bytes) == from_device;
  // CUDA would copy through the host here.
  if (is_legal && is_planted("no_way_round") && from_device != to_device &&
      (reach_of(from_device) >> to_device & 1) == 0) {
    return answer(cudaErrorNotSupported);
  }
  return is_legal ? copy(to, from, bytes, stream) : answer(cudaErrorInvalidValue);
}

}  // extern "C"

}  // namespace rankcheck::stand_in
