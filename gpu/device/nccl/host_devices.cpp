#include <cstdlib>
#include <cstring>
#include <deque>
#include <new>

#include "reference/spec/to_size.hpp"

#include "gpu/device/cluster.hpp"
#include "gpu/device/nccl/devices.hpp"

namespace rankcheck::gpu::nccl {

namespace {

class HostDevices final : public Devices {
 public:
  explicit HostDevices(int slots) : Devices(slots), streams_(spec::to_size(slots)) {}

  void use(int /*slot*/) override {}
  cudaStream_t stream(int slot) override { return reinterpret_cast<cudaStream_t>(&at(slot)); }
  bool is_done(int slot) override { return at(slot).pending.load() == 0; }

  void read(int slot, const void* from, void* to, std::int64_t bytes) override {
    copy(slot, from, to, bytes);
  }
  void write(int slot, const void* from, void* to, std::int64_t bytes) override {
    copy(slot, from, to, bytes);
  }
  void copy(int slot, const void* from, void* to, std::int64_t bytes) override {
    require_done(slot);
    if (bytes > 0) std::memcpy(to, from, spec::to_size(bytes));
  }

 protected:
  std::byte* obtain(int /*slot*/, std::int64_t bytes) override {
    constexpr std::size_t alignment = 256;
    const std::size_t size = (spec::to_size(bytes) + alignment - 1) / alignment;
    memory_.emplace_back(static_cast<std::byte*>(std::aligned_alloc(alignment, size * alignment)));
    if (memory_.back() == nullptr) throw std::bad_alloc();
    return memory_.back().get();
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };

  HostStream& at(int slot) { return streams_[spec::to_size(slot)]; }

  /// Throws DeviceError if work is left, because on a real device a copy would race with it.
  void require_done(int slot) {
    if (!is_done(slot)) throw DeviceError("memory was copied before the stream's work was done");
  }

  std::deque<HostStream> streams_;
  std::vector<std::unique_ptr<std::byte, Free>> memory_;
};

}  // namespace

std::unique_ptr<Devices> make_host_devices(int slots) {
  return std::make_unique<HostDevices>(slots);
}

}  // namespace rankcheck::gpu::nccl
