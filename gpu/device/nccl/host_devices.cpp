#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "reference/spec/to_size.hpp"

#include "gpu/device/cluster.hpp"
#include "gpu/device/nccl/devices.hpp"

namespace rankcheck::gpu::nccl {

namespace {

/// Does the work that this program enqueues on host streams, in a thread of its own. NCCL's
/// stand-in does its work in another thread.
class StreamWorker {
 public:
  explicit StreamWorker(std::deque<HostStream>& streams) : thread_([this] { run(); }) {
    for (HostStream& each : streams) each.listeners[0] = &wake_;
  }
  StreamWorker(const StreamWorker&) = delete;
  StreamWorker& operator=(const StreamWorker&) = delete;
  ~StreamWorker() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void enqueue(HostStream& stream, std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back({&stream, stream.given++, std::move(work)});
    changed_.notify_all();
  }

 private:
  struct Task {
    HostStream* stream = nullptr;
    std::uint64_t number = 0;
    std::function<void()> work;
  };

  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      auto ready = tasks_.end();
      changed_.wait(lock, [&] {
        ready = std::find_if(tasks_.begin(), tasks_.end(), [](const Task& each) {
          return each.stream->done.load() == each.number;
        });
        return ends_ || ready != tasks_.end();
      });
      if (ends_) return;
      const Task task = std::move(*ready);
      tasks_.erase(ready);
      lock.unlock();
      task.work();
      task.stream->finish();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  bool ends_ = false;
  /// Looks for work that can begin.
  const std::function<void()> wake_ = [this] {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  };
  std::thread thread_;
};

class HostDevices final : public Devices {
 public:
  explicit HostDevices(int slots) : Devices(slots), streams_(spec::to_size(slots)) {}

  void use(int /*slot*/) override {}
  cudaStream_t stream(int slot) override { return reinterpret_cast<cudaStream_t>(&at(slot)); }
  bool is_done(int slot) override { return at(slot).is_idle(); }

  void read(int slot, const void* from, void* to, std::int64_t bytes) override {
    copy_now(slot, from, to, bytes);
  }
  void write(int slot, const void* from, void* to, std::int64_t bytes) override {
    copy_now(slot, from, to, bytes);
  }
  void copy(int slot, const void* from, void* to, std::int64_t bytes) override {
    if (bytes == 0) return;
    const auto work = [=] { std::memcpy(to, from, spec::to_size(bytes)); };
    HostStream& stream = at(slot);
    if (stream.capture == nullptr) return worker_.enqueue(stream, work);
    stream.capture->parts.emplace_back([this, &stream, work] { worker_.enqueue(stream, work); });
  }
  void pause(int slot) override {
    worker_.enqueue(at(slot), [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); });
  }

  void begin_capture(int slot) override { at(slot).capture = &graphs_.emplace_back(); }
  int end_capture(int slot) override {
    const HostGraph* const ended = std::exchange(at(slot).capture, nullptr);
    const auto found = std::find_if(
        graphs_.begin(), graphs_.end(), [&](const HostGraph& each) { return &each == ended; });
    return static_cast<int>(found - graphs_.begin());
  }
  void abandon_capture(int slot) noexcept override { at(slot).capture = nullptr; }
  void launch(int graph) override {
    for (const auto& part : graphs_[spec::to_size(graph)].parts) part();
  }
  void drop_graphs() override { graphs_.clear(); }

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

  /// Throws DeviceError if work is left, because on a real device the copy would race with it.
  void copy_now(int slot, const void* from, void* to, std::int64_t bytes) {
    if (!is_done(slot)) throw DeviceError("memory was copied before the stream's work was done");
    if (bytes > 0) std::memcpy(to, from, spec::to_size(bytes));
  }

  std::deque<HostStream> streams_;
  /// The addresses of elements must stay.
  std::deque<HostGraph> graphs_;
  std::vector<std::unique_ptr<std::byte, Free>> memory_;
  StreamWorker worker_{streams_};
};

}  // namespace

std::unique_ptr<Devices> make_host_devices(int slots) {
  return std::make_unique<HostDevices>(slots);
}

}  // namespace rankcheck::gpu::nccl
