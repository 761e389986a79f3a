#include <algorithm>
#include <set>
#include <utility>

#include "reference/spec/to_size.hpp"

#include "gpu/device/cuda/clock.cuh"
#include "gpu/device/cuda/devices.hpp"
#include "gpu/device/cuda/error.hpp"
#include "gpu/device/cuda/fft_library.hpp"
#include "gpu/device/cuda/kernels.cuh"
#include "gpu/device/cuda/presence.hpp"
#include "gpu/device/cuda/start.cuh"

extern "C" int rankcheck_cuda_on_host() __attribute__((weak));

namespace rankcheck::gpu::cuda {

namespace {

__global__ void stamp_kernel(std::int64_t delay_ns, std::int64_t* counter, std::int64_t* stamp) {
  const std::int64_t begin = clock_ns();
  while (clock_ns() - begin < delay_ns) continue;
  auto* const shared = reinterpret_cast<unsigned long long*>(counter);
  *stamp = static_cast<std::int64_t>(atomicAdd_system(shared, 1ULL));
}

std::string text(int capability) {
  return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

/// Says why kernels cannot run on a device, without waking the device; empty if they can.
std::string why_too_old(int device) {
  // In ascending order, as 10 times the value of `capability`.
  constexpr int compiled_for[]{__CUDA_ARCH_LIST__};
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) return {};
  const int capability = 10 * properties.major + properties.minor;
  if (capability >= compiled_for[0] / 10) return {};
  return "device " + std::to_string(device) + " has compute capability " + text(capability) +
         ", the kernels are for " + text(compiled_for[0] / 10) +
         " and newer: hide it with CUDA_VISIBLE_DEVICES, or configure with " +
         "CMAKE_CUDA_ARCHITECTURES=" + std::to_string(capability);
}

}  // namespace

std::vector<std::string> complaints() {
  std::vector<std::string> all;
  const Presence found = find_devices();
  if (!found.why_none.empty()) all.push_back(found.why_none);
  for (int device = 0; device < found.devices; ++device) {
    std::string reason = why_too_old(device);
    if (!reason.empty()) all.push_back(std::move(reason));
  }
  try {
    static_cast<void>(fft_library());
  } catch (const DeviceError& error) {
    all.emplace_back(error.what());
  }
  return all;
}

std::string why_unavailable() {
  const std::vector<std::string> all = complaints();
  return all.empty() ? "" : all.front();
}

bool on_host() {
  return rankcheck_cuda_on_host != nullptr;
}

Devices::Devices(int count, int first) {
  int physical = 0;
  check(cudaGetDeviceCount(&physical), "cudaGetDeviceCount");
  events_.resize(spec::to_size(physical));
  logical_.resize(spec::to_size(count));
  for (int d = 0; d < count; ++d) {
    Logical& made = logical_[spec::to_size(d)];
    made.physical = (first + d) % physical;
    check(cudaSetDevice(made.physical), "cudaSetDevice");
    check(cudaStreamCreateWithFlags(&made.stream, cudaStreamNonBlocking),
          "cudaStreamCreateWithFlags");
  }
  let_devices_reach_each_other();
}

void Devices::let_devices_reach_each_other() {
  std::set<int> devices;
  for (const Logical& each : logical_) devices.insert(each.physical);
  for (const int device : devices) {
    check(cudaSetDevice(device), "cudaSetDevice");
    for (const int peer : devices) {
      if (peer == device) continue;
      int can = 0;
      check(cudaDeviceCanAccessPeer(&can, device, peer), "cudaDeviceCanAccessPeer");
      if (can == 0) {
        throw DeviceError("device " + std::to_string(device) +
                          " cannot reach the memory of device " + std::to_string(peer) +
                          ": hide one with CUDA_VISIBLE_DEVICES");
      }
      int atomics = 0;
      check(cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, device, peer),
            "cudaDeviceGetP2PAttribute");
      can_stamp_ = can_stamp_ && atomics != 0;
      const cudaError_t code = cudaDeviceEnablePeerAccess(peer, 0);
      // Another Devices object of this process has enabled the access.
      if (code == cudaErrorPeerAccessAlreadyEnabled) {
        static_cast<void>(cudaGetLastError());
        continue;
      }
      check(code, "cudaDeviceEnablePeerAccess");
    }
  }
}

Devices::~Devices() {
  for (Logical& each : logical_) {
    static_cast<void>(cudaSetDevice(each.physical));
    for (const Block& block : each.blocks) static_cast<void>(cudaFree(block.begin));
    if (each.stream != nullptr) static_cast<void>(cudaStreamDestroy(each.stream));
  }
  for (cudaGraphExec_t graph : graphs_) {
    if (graph != nullptr) static_cast<void>(cudaGraphExecDestroy(graph));
  }
  for (const auto& events : events_) {
    for (cudaEvent_t event : events) {
      if (event != nullptr) static_cast<void>(cudaEventDestroy(event));
    }
  }
}

void Devices::begin(std::span<const int> members) {
  members_.assign(members.begin(), members.end());
  for (Logical& each : logical_) {
    for (Block& block : each.blocks) block.is_free = true;
  }
}

cudaStream_t Devices::use(int rank) const {
  const Logical& chosen = logical(rank);
  check(cudaSetDevice(chosen.physical), "cudaSetDevice");
  return chosen.stream;
}

void Devices::give_back_free_memory(int rank) {
  const int physical = logical(rank).physical;
  for (Logical& each : logical_) {
    if (each.physical != physical) continue;
    for (const Block& block : each.blocks) {
      if (block.is_free) check(cudaFree(block.begin), "cudaFree");
    }
    std::erase_if(each.blocks, [](const Block& block) { return block.is_free; });
  }
}

bool Devices::still_work() const {
  bool works = true;
  for (const Logical& each : logical_) {
    works = works && cudaSetDevice(each.physical) == cudaSuccess &&
            cudaDeviceSynchronize() == cudaSuccess;
  }
  // Clears the error of earlier work, so that the next call does not report it.
  static_cast<void>(cudaGetLastError());
  return works;
}

std::byte* Devices::obtain(int rank, std::int64_t bytes) {
  void* memory = nullptr;
  const auto is_there = [&] {
    use(rank);
    const cudaError_t code = cudaMalloc(&memory, spec::to_size(bytes));
    if (code != cudaErrorMemoryAllocation) {
      check(code, "cudaMalloc");
      return true;
    }
    static_cast<void>(cudaGetLastError());
    return false;
  };
  if (is_there()) return static_cast<std::byte*>(memory);
  give_back_free_memory(rank);
  if (is_there()) return static_cast<std::byte*>(memory);
  if (give_back_kept_) give_back_kept_();
  if (is_there()) return static_cast<std::byte*>(memory);
  std::size_t free_bytes = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free_bytes, &total), "cudaMemGetInfo");
  throw DeviceError("out of memory: device " + std::to_string(logical(rank).physical) + " has " +
                    std::to_string(free_bytes) + " bytes left of " + std::to_string(total) +
                    ", expected " + std::to_string(bytes));
}

std::byte* Devices::allocate(int rank, std::int64_t bytes) {
  Logical& owner = logical_[spec::to_size(device_of(rank))];
  Block* best = nullptr;
  for (Block& block : owner.blocks) {
    if (!block.is_free || block.bytes < bytes) continue;
    if (best == nullptr || block.bytes < best->bytes) best = &block;
  }
  // A block that is much too large is left for a larger request.
  if (best == nullptr || best->bytes / 2 > std::max<std::int64_t>(bytes, 4096)) {
    Block block{.begin = nullptr, .bytes = std::max<std::int64_t>(bytes, 256), .is_free = true};
    block.begin = obtain(rank, block.bytes);
    owner.blocks.push_back(block);
    best = &owner.blocks.back();
  }
  best->is_free = false;
  return best->begin;
}

void Devices::read(int rank, const void* from, void* to, std::int64_t bytes) const {
  cudaStream_t stream = use(rank);
  if (bytes > 0) {
    check(cudaMemcpyAsync(to, from, spec::to_size(bytes), cudaMemcpyDeviceToHost, stream),
          "cudaMemcpyAsync");
  }
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

void Devices::write(int rank, const void* from, void* to, std::int64_t bytes) const {
  cudaStream_t stream = use(rank);
  if (bytes == 0) return;
  check(cudaMemcpyAsync(to, from, spec::to_size(bytes), cudaMemcpyHostToDevice, stream),
        "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

void Devices::copy(int rank, const void* from, void* to, std::int64_t bytes) const {
  if (bytes == 0) return;
  check(cudaMemcpyAsync(to, from, spec::to_size(bytes), cudaMemcpyDefault, use(rank)),
        "cudaMemcpyAsync");
}

void Devices::synchronize() const {
  for (int r = 0; r < ranks(); ++r) check(cudaStreamSynchronize(use(r)), "cudaStreamSynchronize");
}

void Devices::stamp(int rank,
                    std::int64_t delay_ns,
                    std::int64_t* counter,
                    std::int64_t* stamp) const {
  check(start(stamp_kernel, 1, 1, use(rank), delay_ns, counter, stamp), "stamp_kernel");
}

void Devices::combine(int rank, const Combination& what) {
  check(cuda::combine(what, use(rank)), "combine_kernel");
}

void Devices::record(int rank, std::int32_t event) {
  cudaStream_t stream = use(rank);
  const auto id = spec::to_size(event);
  auto& made = events_[spec::to_size(logical(rank).physical)];
  if (made.size() <= id) made.resize(id + 1, nullptr);
  if (made[id] == nullptr) {
    check(cudaEventCreateWithFlags(&made[id], cudaEventDisableTiming), "cudaEventCreateWithFlags");
  }
  check(cudaEventRecord(made[id], stream), "cudaEventRecord");
  if (recorded_.size() <= id) recorded_.resize(id + 1, nullptr);
  recorded_[id] = made[id];
}

void Devices::wait(int rank, std::int32_t event) {
  check(cudaStreamWaitEvent(use(rank), recorded_[spec::to_size(event)], 0), "cudaStreamWaitEvent");
}

void Devices::begin_capture(int rank) {
  check(cudaStreamBeginCapture(use(rank), cudaStreamCaptureModeThreadLocal),
        "cudaStreamBeginCapture");
}

std::int32_t Devices::end_capture(int rank) {
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(use(rank), &graph), "cudaStreamEndCapture");
  cudaGraphExec_t runnable = nullptr;
  const cudaError_t code = cudaGraphInstantiate(&runnable, graph, 0);
  static_cast<void>(cudaGraphDestroy(graph));
  check(code, "cudaGraphInstantiate");
  const auto free_number = std::find(graphs_.begin(), graphs_.end(), nullptr);
  const auto number = static_cast<std::int32_t>(free_number - graphs_.begin());
  if (free_number == graphs_.end()) graphs_.push_back(nullptr);
  graphs_[spec::to_size(number)] = runnable;
  return number;
}

void Devices::abandon_capture(int rank) noexcept {
  cudaGraph_t graph = nullptr;
  static_cast<void>(cudaStreamEndCapture(logical(rank).stream, &graph));
  if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
  // Clears the error of the capture only. An error that broke the device will be reported again.
  static_cast<void>(cudaGetLastError());
}

void Devices::replay(int rank, std::int32_t graph) {
  check(cudaGraphLaunch(graphs_[spec::to_size(graph)], use(rank)), "cudaGraphLaunch");
}

void Devices::drop(std::int32_t graph) {
  // The graph may still be running. CUDA frees it when it has finished.
  check(cudaGraphExecDestroy(std::exchange(graphs_[spec::to_size(graph)], nullptr)),
        "cudaGraphExecDestroy");
}

}  // namespace rankcheck::gpu::cuda
