#include <algorithm>
#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include "reference/spec/to_size.hpp"

#include "gpu/device/cuda/error.hpp"
#include "gpu/device/cuda/presence.hpp"
#include "gpu/device/nccl/devices.hpp"

namespace rankcheck::gpu::nccl {

namespace {

using cuda::check;
using cuda::version_text;

void CUDART_CB sleep_shortly(void* /*unused*/) {
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

class CudaDevices final : public Devices {
 public:
  explicit CudaDevices(std::span<const int> physical) : Devices(static_cast<int>(physical.size())) {
    for (const int device : physical) {
      slots_.push_back({.physical = device});
      check(cudaSetDevice(device), "cudaSetDevice");
      check(cudaStreamCreateWithFlags(&slots_.back().stream, cudaStreamNonBlocking),
            "cudaStreamCreateWithFlags");
    }
  }
  CudaDevices(const CudaDevices&) = delete;
  CudaDevices& operator=(const CudaDevices&) = delete;
  ~CudaDevices() override {
    for (const Slot& each : slots_) {
      static_cast<void>(cudaSetDevice(each.physical));
      for (void* memory : each.memory) static_cast<void>(cudaFree(memory));
      static_cast<void>(cudaStreamDestroy(each.stream));
    }
  }

  void use(int slot) override { check(cudaSetDevice(at(slot).physical), "cudaSetDevice"); }
  cudaStream_t stream(int slot) override { return at(slot).stream; }

  bool is_done(int slot) override {
    use(slot);
    const cudaError_t code = cudaStreamQuery(at(slot).stream);
    if (code == cudaErrorNotReady) return false;
    check(code, "cudaStreamQuery");
    return true;
  }

  void read(int slot, const void* from, void* to, std::int64_t bytes) override {
    move(slot, from, to, bytes, cudaMemcpyDeviceToHost);
    check(cudaStreamSynchronize(at(slot).stream), "cudaStreamSynchronize");
  }
  void write(int slot, const void* from, void* to, std::int64_t bytes) override {
    move(slot, from, to, bytes, cudaMemcpyHostToDevice);
    check(cudaStreamSynchronize(at(slot).stream), "cudaStreamSynchronize");
  }
  void copy(int slot, const void* from, void* to, std::int64_t bytes) override {
    move(slot, from, to, bytes, cudaMemcpyDeviceToDevice);
  }
  void pause(int slot) override {
    use(slot);
    check(cudaLaunchHostFunc(at(slot).stream, sleep_shortly, nullptr), "cudaLaunchHostFunc");
  }

  void begin_capture(int slot) override {
    use(slot);
    check(cudaStreamBeginCapture(at(slot).stream, cudaStreamCaptureModeThreadLocal),
          "cudaStreamBeginCapture");
  }
  int end_capture(int slot) override {
    use(slot);
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(at(slot).stream, &graph), "cudaStreamEndCapture");
    cudaGraphExec_t runnable = nullptr;
    const cudaError_t code = cudaGraphInstantiate(&runnable, graph, 0);
    static_cast<void>(cudaGraphDestroy(graph));
    check(code, "cudaGraphInstantiate");
    graphs_.push_back({.slot = slot, .runnable = runnable});
    return static_cast<int>(graphs_.size()) - 1;
  }
  void abandon_capture(int slot) noexcept override {
    cudaGraph_t graph = nullptr;
    static_cast<void>(cudaStreamEndCapture(at(slot).stream, &graph));
    if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
    // Clears the error of the capture only. An error that broke the device will be reported again.
    static_cast<void>(cudaGetLastError());
  }
  void launch(int graph) override {
    const Graph& its = graphs_[spec::to_size(graph)];
    use(its.slot);
    check(cudaGraphLaunch(its.runnable, at(its.slot).stream), "cudaGraphLaunch");
  }
  void drop_graphs() override {
    for (const Graph& each : std::exchange(graphs_, {})) {
      use(each.slot);
      check(cudaGraphExecDestroy(each.runnable), "cudaGraphExecDestroy");
    }
  }

 protected:
  std::byte* obtain(int slot, std::int64_t bytes) override {
    use(slot);
    void* memory = nullptr;
    check(cudaMalloc(&memory, spec::to_size(bytes)), "cudaMalloc");
    at(slot).memory.push_back(memory);
    return static_cast<std::byte*>(memory);
  }

 private:
  struct Slot {
    int physical = 0;
    cudaStream_t stream = nullptr;
    std::vector<void*> memory = {};
  };

  struct Graph {
    int slot = 0;
    cudaGraphExec_t runnable = nullptr;
  };

  Slot& at(int slot) { return slots_[spec::to_size(slot)]; }

  void move(int slot, const void* from, void* to, std::int64_t bytes, cudaMemcpyKind kind) {
    if (bytes == 0) return;
    use(slot);
    check(cudaMemcpyAsync(to, from, spec::to_size(bytes), kind, at(slot).stream),
          "cudaMemcpyAsync");
  }

  std::vector<Slot> slots_;
  std::vector<Graph> graphs_;
};

int capability_of(int device) {
  int major = 0;
  int minor = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
        "cudaDeviceGetAttribute");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device),
        "cudaDeviceGetAttribute");
  return 10 * major + minor;
}

}  // namespace

CudaPresence find_cuda() {
  cuda::Presence present = cuda::find_devices();
  if (!present.why_none.empty()) return {.why_none = std::move(present.why_none)};
  CudaPresence found{
      .devices = present.devices, .why_none = {}, .least_capability = capability_of(0)};
  for (int d = 1; d < found.devices; ++d) {
    found.least_capability = std::min(found.least_capability, capability_of(d));
  }
  return found;
}

bool all_reach_peers(int devices) {
  for (int from = 0; from < devices; ++from) {
    for (int to = 0; to < devices; ++to) {
      if (from == to) continue;
      int can = 0;
      check(cudaDeviceCanAccessPeer(&can, from, to), "cudaDeviceCanAccessPeer");
      if (can == 0) return false;
    }
  }
  return true;
}

CudaVersions cuda_versions() {
  int driver = 0;
  int runtime = 0;
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  CudaVersions all{version_text(driver), version_text(runtime), {}};
  for (int d = 0; d < find_cuda().devices; ++d) {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, d), "cudaGetDeviceProperties");
    all.devices.emplace_back(properties.name);
  }
  return all;
}

std::unique_ptr<Devices> make_cuda_devices(std::span<const int> physical) {
  return std::make_unique<CudaDevices>(physical);
}

}  // namespace rankcheck::gpu::nccl
