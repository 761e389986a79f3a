#include <algorithm>
#include <chrono>

#include "reference/spec/to_size.hpp"

#include "gpu/device/cuda/error.hpp"
#include "gpu/device/cuda/link_ends.hpp"
#include "gpu/device/cuda/start.cuh"

namespace rankcheck::gpu::cuda {

namespace {

constexpr int block_threads = 256;
constexpr std::int64_t blocks_max = 4096;

unsigned blocks_for(std::int64_t words) {
  return static_cast<unsigned>(
      std::clamp<std::int64_t>((words + block_threads - 1) / block_threads, 1, blocks_max));
}

/// The result of a comparison. It lies in a device's memory.
struct Found {
  unsigned long long wrong_bytes;
  unsigned long long first;
};

__global__ void fill_kernel(std::uint64_t* out, std::int64_t words, Pattern pattern) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < words;
       i += stride) {
    out[i] = pattern.word(i);
  }
}

__global__ void load_kernel(const std::uint64_t* from, std::uint64_t* to, std::int64_t words) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < words;
       i += stride) {
    to[i] = from[i];
  }
}

__global__ void compare_kernel(const std::uint64_t* values,
                               std::int64_t words,
                               Pattern pattern,
                               Found* found) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < words;
       i += stride) {
    const std::uint64_t wrong = values[i] ^ pattern.word(i);
    if (wrong == 0) continue;
    unsigned bytes = 0;
    for (int b = 0; b < 8; ++b) bytes += (wrong >> (8 * b) & 0xff) != 0 ? 1 : 0;
    atomicAdd(&found->wrong_bytes, static_cast<unsigned long long>(bytes));
    atomicMin(&found->first, static_cast<unsigned long long>(i));
  }
}

/// A stream and memory on one physical device.
class Side {
 public:
  Side(int device, std::int64_t words) : device_(device) {
    use();
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    check(cudaMalloc(&memory_, spec::to_size(words) * sizeof(std::uint64_t)), "cudaMalloc");
    check(cudaMalloc(&found_, sizeof(Found)), "cudaMalloc");
    check(cudaEventCreate(&begin_), "cudaEventCreate");
    check(cudaEventCreate(&end_), "cudaEventCreate");
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;
  ~Side() {
    static_cast<void>(cudaSetDevice(device_));
    if (begin_ != nullptr) static_cast<void>(cudaEventDestroy(begin_));
    if (end_ != nullptr) static_cast<void>(cudaEventDestroy(end_));
    if (found_ != nullptr) static_cast<void>(cudaFree(found_));
    if (memory_ != nullptr) static_cast<void>(cudaFree(memory_));
    if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
  }

  void use() const { check(cudaSetDevice(device_), "cudaSetDevice"); }
  [[nodiscard]] int device() const { return device_; }
  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  [[nodiscard]] std::uint64_t* memory() const { return static_cast<std::uint64_t*>(memory_); }
  [[nodiscard]] Found* found() const { return static_cast<Found*>(found_); }

  void synchronize() const { check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

  /// Enqueues the work between two events, waits for it and returns the time between the events.
  template <class Work>
  EventSeconds time(const Work& work) const {
    use();
    const auto start = std::chrono::steady_clock::now();
    check(cudaEventRecord(begin_, stream_), "cudaEventRecord");
    work();
    check(cudaEventRecord(end_, stream_), "cudaEventRecord");
    synchronize();
    const std::chrono::duration<double> here = std::chrono::steady_clock::now() - start;
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime");
    return {.device = static_cast<double>(milliseconds) / 1000, .host = here.count()};
  }

 private:
  int device_;
  cudaStream_t stream_ = nullptr;
  void* memory_ = nullptr;
  void* found_ = nullptr;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

class DeviceLinkEnds final : public LinkEnds {
 public:
  DeviceLinkEnds(int from, int to, std::int64_t words, Way way)
      : words_(words), way_(way), source_(from, words), destination_(to, words) {}

  [[nodiscard]] std::int64_t words() const override { return words_; }
  [[nodiscard]] Way way() const override { return way_; }

  void fill(End end, const Pattern& pattern) override {
    const Side& there = side(end);
    there.use();
    check(start(fill_kernel,
                blocks_for(words_),
                block_threads,
                there.stream(),
                there.memory(),
                words_,
                pattern),
          "fill_kernel");
    there.synchronize();
  }

  EventSeconds move(Method method) override {
    const std::size_t bytes = spec::to_size(words_) * sizeof(std::uint64_t);
    if (method == Method::copy) {
      return source_.time([&] {
        check(cudaMemcpyPeerAsync(destination_.memory(),
                                  destination_.device(),
                                  source_.memory(),
                                  source_.device(),
                                  bytes,
                                  source_.stream()),
              "cudaMemcpyPeerAsync");
      });
    }
    return destination_.time([&] {
      check(start(load_kernel,
                  blocks_for(words_),
                  block_threads,
                  destination_.stream(),
                  source_.memory(),
                  destination_.memory(),
                  words_),
            "load_kernel");
    });
  }

  Difference compare(End end, const Pattern& pattern) override {
    const Side& there = side(end);
    there.use();
    Found found{.wrong_bytes = 0, .first = ~0ULL};
    copy(there, there.found(), &found, sizeof found, cudaMemcpyHostToDevice);
    check(start(compare_kernel,
                blocks_for(words_),
                block_threads,
                there.stream(),
                there.memory(),
                words_,
                pattern,
                there.found()),
          "compare_kernel");
    copy(there, &found, there.found(), sizeof found, cudaMemcpyDeviceToHost);
    Difference difference{.wrong_bytes = static_cast<std::int64_t>(found.wrong_bytes)};
    if (difference.wrong_bytes == 0) return difference;
    WrongWord& first = difference.first;
    first.index = static_cast<std::int64_t>(found.first);
    first.expected = pattern.word(first.index);
    copy(there, &first.got, there.memory() + first.index, sizeof first.got, cudaMemcpyDeviceToHost);
    return difference;
  }

 private:
  [[nodiscard]] const Side& side(End end) const {
    return end == End::source ? source_ : destination_;
  }

  static void copy(
      const Side& there, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    check(cudaMemcpyAsync(to, from, bytes, kind, there.stream()), "cudaMemcpyAsync");
    there.synchronize();
  }

  std::int64_t words_;
  Way way_;
  Side source_;
  Side destination_;
};

/// Enables `device` to access the memory of `peer`. Returns false if it cannot.
bool let_reach(int device, int peer) {
  int can = 0;
  check(cudaDeviceCanAccessPeer(&can, device, peer), "cudaDeviceCanAccessPeer");
  if (can == 0) return false;
  check(cudaSetDevice(device), "cudaSetDevice");
  const cudaError_t code = cudaDeviceEnablePeerAccess(peer, 0);
  // An earlier probe of this link in this process has enabled the access.
  if (code == cudaErrorPeerAccessAlreadyEnabled) {
    static_cast<void>(cudaGetLastError());
    return true;
  }
  check(code, "cudaDeviceEnablePeerAccess");
  return true;
}

/// Enables access in both directions, as plans do. With access, copies go directly from one device
/// to the other; without it, CUDA copies through the host. Throws Unreachable if the method needs
/// access and there is none.
Way open_link(int from, int to, Method method) {
  if (from == to) return Way::within;
  const bool is_reached = let_reach(from, to);
  if (let_reach(to, from)) return is_reached || method == Method::load ? Way::peer : Way::host;
  if (method == Method::copy) return Way::host;
  throw Unreachable("kernels of device " + std::to_string(to) +
                    " cannot read the memory of device " + std::to_string(from));
}

}  // namespace

std::vector<DeviceInfo> physical_devices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return {};
  std::vector<DeviceInfo> devices;
  for (int d = 0; d < count; ++d) {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, d), "cudaGetDeviceProperties");
    char bus[32] = {};
    check(cudaDeviceGetPCIBusId(bus, static_cast<int>(sizeof bus), d), "cudaDeviceGetPCIBusId");
    devices.push_back(
        {.name = properties.name,
         .bus = bus,
         .capability = std::to_string(properties.major) + '.' + std::to_string(properties.minor),
         .memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem)});
  }
  return devices;
}

std::unique_ptr<LinkEnds> make_link_ends(int from, int to, std::int64_t bytes, Method method) {
  const int devices[] = {from, to};
  std::int64_t room = bytes;
  for (const int device : devices) {
    check(cudaSetDevice(device), "cudaSetDevice");
    std::size_t free_bytes = 0;
    std::size_t total = 0;
    check(cudaMemGetInfo(&free_bytes, &total), "cudaMemGetInfo");
    // Both buffers may be on one device, and others use it too.
    room = std::min(room, static_cast<std::int64_t>(free_bytes / 4));
  }
  const Way way = open_link(from, to, method);
  const std::int64_t words = room / static_cast<std::int64_t>(sizeof(std::uint64_t));
  if (words == 0) throw DeviceError("no memory is free");
  return std::make_unique<DeviceLinkEnds>(from, to, words, way);
}

}  // namespace rankcheck::gpu::cuda
