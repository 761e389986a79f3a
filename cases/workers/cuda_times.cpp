#include "cases/workers/cuda_times.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "reference/registry.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/collectives/registry.hpp"
#include "gpu/device/cuda/cluster.hpp"
#include "gpu/device/cuda/devices.hpp"
#include "gpu/device/cuda/enqueue.hpp"
#include "gpu/device/cuda/error.hpp"
#include "gpu/device/cuda/event_seconds.hpp"
#include "gpu/device/cuda/graphs.hpp"

#include "harness/case/image.hpp"
#include "harness/case/input.hpp"

#include "cases/families/collectives/case.hpp"
#include "cases/families/ptycho/case.hpp"

namespace rankcheck::cases {

namespace {

using harness::Case;
namespace cuda = gpu::cuda;

/// Device memory that stays allocated when a call begins.
struct Free {
  void operator()(std::byte* memory) const { static_cast<void>(cudaFree(memory)); }
};
using Memory = std::unique_ptr<std::byte, Free>;

Memory obtain(const cuda::Devices& devices, int rank, std::int64_t bytes) {
  devices.use(rank);
  void* memory = nullptr;
  cuda::check(cudaMalloc(&memory, spec::to_size(std::max<std::int64_t>(bytes, 1))), "cudaMalloc");
  return Memory(static_cast<std::byte*>(memory));
}

/// Returns `count` numbers between -1/2 and 1/2.
template <class T>
std::vector<std::byte> noise(const Case& c, int rank, std::int64_t count) {
  const harness::CounterHash hash(c.data_seed, static_cast<std::uint64_t>(rank));
  std::vector<T> values(spec::to_size(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<T>(hash(i) >> 40) * static_cast<T>(0x1p-24) - static_cast<T>(0.5);
  }
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

/// Measures the seconds that work on the streams of all ranks of a call takes. The devices wait
/// until all work is enqueued, so the speed of the host does not count. How long they wait follows
/// from the time that enqueueing took in the run before.
class Stopwatch {
 public:
  /// Must be constructed after the call has begun.
  explicit Stopwatch(cuda::Devices& devices)
      : devices_(devices), numbers_(obtain(devices, 0, sizeof(std::int64_t) * 2)) {
    const std::int64_t zeros[2] = {};
    devices.write(0, zeros, numbers_.get(), sizeof zeros);
    devices.use(0);
    for (cudaEvent_t* each : {&begin_, &end_}) {
      cuda::check(cudaEventCreate(each), "cudaEventCreate");
    }
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() {
    for (cudaEvent_t each : {begin_, end_}) {
      if (each != nullptr) static_cast<void>(cudaEventDestroy(each));
    }
  }

  template <class Work>
  double time(const Work& work) {
    devices_.synchronize();
    const auto start = Clock::now();
    auto* const counter = reinterpret_cast<std::int64_t*>(numbers_.get());
    devices_.stamp(0, std::chrono::nanoseconds(hold_).count(), counter, counter + 1);
    cuda::check(cudaEventRecord(begin_, devices_.use(0)), "cudaEventRecord");
    for (int r = 1; r < devices_.ranks(); ++r) {
      cuda::check(cudaStreamWaitEvent(devices_.use(r), begin_, 0), "cudaStreamWaitEvent");
    }
    work();
    for (int r = 1; r < devices_.ranks(); ++r) {
      devices_.record(r, r);
      devices_.wait(0, r);
    }
    cuda::check(cudaEventRecord(end_, devices_.use(0)), "cudaEventRecord");
    hold_ = std::clamp<Clock::duration>(2 * (Clock::now() - start), hold_min, hold_max);
    devices_.synchronize();
    cuda::EventSeconds seconds{.host = std::chrono::duration<double>(Clock::now() - start).count()};
    float milliseconds = 0;
    cuda::check(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime");
    seconds.device = static_cast<double>(milliseconds) / 1000;
    const std::string why = seconds.why_impossible();
    if (!why.empty()) throw gpu::DeviceError(why);
    return seconds.device;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds hold_min{1};
  /// Upper limit. Work that waits for the devices takes as long as they are held back, so the wait
  /// would double each time.
  static constexpr std::chrono::milliseconds hold_max{20};

  cuda::Devices& devices_;
  /// A counter, and the number that the stamp draws from it. Nobody reads them.
  Memory numbers_;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
  Clock::duration hold_ = hold_min;
};

/// A case and its floor on the devices, ready to run.
class TimedCase {
 public:
  TimedCase(const Algorithms& algorithms, const Case& c)
      : case_(c),
        contract_(reference::contract_named(c.operation)),
        selected_(algorithms.choose(c)),
        devices_(c.ranks),
        cluster_(devices_, reference::contract_named, gpu::algorithm_for),
        graphs_(devices_) {
    cluster_.begin(harness::members(c));
    run_time_.emplace(devices_);
    floor_time_.emplace(devices_);
    for (int rank = 0; rank < c.ranks; ++rank) add_rank(rank);
    if (selected_.plan == nullptr) {
      call_ = operator_call(c);
      return;
    }
    gpu::plan::Builder builder;
    const spec::Call call = collective_call(c);
    builder.begin(plan_, contract_, call, options_of(c));
    selected_.plan->plan(builder);
    for (int rank = 0; rank < c.ranks; ++rank) {
      const auto r = spec::to_size(rank);
      const std::int64_t bytes = plan_.scratch[r] * spec::info(c.type).bytes;
      memory_[r].scratch = keep(rank, bytes);
    }
  }

  /// Runs the case once without CUDA graphs and keeps fingerprints of the results. Then runs it
  /// until there are graphs. Finally overwrites the results, so that later runs must compute them
  /// again.
  void run_first() {
    spoil_results();
    cluster_.begin(harness::members(case_));
    if (selected_.plan != nullptr) {
      cuda::enqueue({plan_, memory_}, devices_);
    } else {
      selected_.op->run({cluster_, contract_, call_, buffers_});
    }
    devices_.synchronize();
    first_ = fingerprints();
    for (int i = 0; i < 2; ++i) run();
    spoil_results();
  }

  /// Throws DeviceError if the results differ in any bit from those of the first run.
  void require_first_results() {
    devices_.synchronize();
    const std::vector<std::size_t> last = fingerprints();
    for (std::size_t r = 0; r < last.size(); ++r) {
      if (last[r] == first_[r]) continue;
      throw gpu::DeviceError("a later run left a different result on rank " + std::to_string(r) +
                             " than the first one");
    }
  }

  double run() {
    // Frees the memory that the run before asked for. This run gets the same memory.
    cluster_.begin(harness::members(case_));
    return run_time_->time([&] {
      if (selected_.plan != nullptr) {
        graphs_.enqueue({plan_, memory_, devices_.members()});
      } else {
        selected_.op->run({cluster_, contract_, call_, buffers_});
      }
    });
  }

  double run_floor() {
    // Frees the memory of the case's run, because cuFFT may need it.
    cluster_.begin(harness::members(case_));
    return floor_time_->time([&] {
      for (int rank = 0; rank < case_.ranks; ++rank) {
        if (selected_.plan != nullptr) {
          copy(rank);
        } else {
          transform(rank);
        }
      }
    });
  }

  /// Returns how many bytes the copies read and write. 0 for operators.
  [[nodiscard]] std::int64_t floor_bytes() const {
    std::int64_t bytes = 0;
    for (const Floor& each : floors_) bytes += 2 * each.bytes;
    return selected_.plan != nullptr ? bytes : 0;
  }

 private:
  /// A rank's image on its device. `recv` is an offset in bytes.
  struct Place {
    std::byte* begin = nullptr;
    std::int64_t bytes = 0;
    std::int64_t recv = 0;
    std::int64_t recv_bytes = 0;
  };

  /// The data of one rank's part of the floor.
  struct Floor {
    const std::byte* from = nullptr;
    std::byte* to = nullptr;
    std::int64_t bytes = 0;
    std::int64_t frames = 0;
  };

  /// Overwrites the results. Otherwise a run that writes nothing would leave the results of another
  /// run.
  void spoil_results() {
    for (std::size_t r = 0; r < places_.size(); ++r) {
      const Place& place = places_[r];
      const std::vector<std::byte> spoiled(spec::to_size(place.recv_bytes), std::byte{0xa5});
      devices_.write(
          static_cast<int>(r), spoiled.data(), place.begin + place.recv, place.recv_bytes);
    }
  }

  /// Returns a fingerprint of every rank's image.
  [[nodiscard]] std::vector<std::size_t> fingerprints() const {
    std::vector<std::size_t> all;
    std::string image;
    for (std::size_t r = 0; r < places_.size(); ++r) {
      image.resize(spec::to_size(places_[r].bytes));
      devices_.read(static_cast<int>(r), places_[r].begin, image.data(), places_[r].bytes);
      all.push_back(std::hash<std::string>()(image));
    }
    return all;
  }

  std::byte* keep(int rank, std::int64_t bytes) {
    return kept_.emplace_back(obtain(devices_, rank, bytes)).get();
  }

  /// Makes the rank's image and copies it to the rank's device.
  void add_rank(int rank) {
    harness::ImageLayout layout;
    harness::Image image;
    prepare_stage(reference::contract_named,
                  {&case_, 1},
                  0,
                  rank,
                  harness::ResultPlace::own_block,
                  {},
                  layout,
                  image);
    const auto bytes = static_cast<std::int64_t>(image.size());
    std::byte* const there = keep(rank, bytes);
    devices_.write(rank, image.data(), there, bytes);
    std::byte* const send = layout.send < 0 ? nullptr : there + layout.send;
    std::byte* const recv = layout.recv < 0 ? nullptr : there + layout.recv;
    places_.push_back({.begin = there,
                       .bytes = bytes,
                       .recv = std::max<std::int64_t>(layout.recv, 0),
                       .recv_bytes = layout.recv < 0 ? 0 : layout.recv_size});
    memory_.push_back({.send = send, .recv = recv});
    buffers_.push_back({.send = send, .recv = recv});
    if (selected_.plan != nullptr) {
      const bool sends_more = layout.send_size >= layout.recv_size;
      const std::int64_t longer = std::max(layout.send_size, layout.recv_size);
      floors_.push_back(
          {.from = sends_more ? send : recv, .to = keep(rank, longer), .bytes = longer});
    } else {
      add_frames(rank);
    }
  }

  /// Fills all frames of a rank with one frame of noise, because a device transforms zeros faster.
  /// The frames are transformed from one array to another, and back within the second array. So
  /// their values do not grow.
  void add_frames(int rank) {
    const std::int64_t frames =
        case_.counts[spec::to_size(rank)] * std::int64_t{ptycho(case_).scene.modes};
    const std::int64_t pixels =
        std::int64_t{ptycho(case_).scene.detector} * ptycho(case_).scene.detector;
    const std::vector<std::byte> frame = spec::component(case_.type) == spec::Type::f64
                                             ? noise<double>(case_, rank, 2 * pixels)
                                             : noise<float>(case_, rank, 2 * pixels);
    const auto bytes = static_cast<std::int64_t>(frame.size());
    std::byte* const from = keep(rank, frames * bytes);
    for (std::int64_t n = 0; n < frames; ++n) {
      devices_.write(rank, frame.data(), from + n * bytes, bytes);
    }
    floors_.push_back({.from = from, .to = keep(rank, frames * bytes), .frames = frames});
  }

  void copy(int rank) {
    const Floor& floor = floors_[spec::to_size(rank)];
    if (floor.bytes == 0) return;
    cuda::check(cudaMemcpyAsync(floor.to,
                                floor.from,
                                spec::to_size(floor.bytes),
                                cudaMemcpyDefault,
                                devices_.use(rank)),
                "cudaMemcpyAsync");
  }

  void transform(int rank) {
    const Floor& floor = floors_[spec::to_size(rank)];
    gpu::Transform whole{.precision = spec::component(case_.type),
                         .width = ptycho(case_).scene.detector,
                         .batch = floor.frames};
    cluster_.transform(rank, whole, floor.from, floor.to);
    whole.inverse = true;
    cluster_.transform(rank, whole, floor.to, floor.to);
  }

  Case case_;
  const spec::Contract& contract_;
  /// The call of an operator. Collectives have a plan instead.
  spec::OperatorCall call_;
  SelectedAlgorithm selected_;
  cuda::Devices devices_;
  cuda::CudaCluster cluster_;
  cuda::Graphs graphs_;
  std::optional<Stopwatch> run_time_;
  std::optional<Stopwatch> floor_time_;
  std::vector<Memory> kept_;
  std::vector<gpu::RankMemory> memory_;
  std::vector<gpu::DeviceBuffers> buffers_;
  std::vector<Floor> floors_;
  std::vector<Place> places_;
  std::vector<std::size_t> first_;
  gpu::plan::Plan plan_;
};

}  // namespace

bench::Times time_on_devices(const Algorithms& algorithms, const bench::TimesRequest& request) {
  const std::string why = algorithms.why_none(request.c);
  if (!why.empty()) throw harness::BadInput("time: case: " + why);
  // In place, the results of a run would be the inputs of the next one.
  if (request.c.in_place) throw harness::BadInput("time: case: in_place: expected false");
  TimedCase timed(algorithms, request.c);
  timed.run_first();
  bench::Times times = bench::time_in_turns(
      [&] { return timed.run(); }, [&] { return timed.run_floor(); }, request.seconds_min);
  timed.require_first_results();
  times.floor_bytes = timed.floor_bytes();
  return times;
}

}  // namespace rankcheck::cases
