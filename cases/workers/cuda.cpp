#include "cases/backends/cuda.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reference/registry.hpp"
#include "reference/spec/to_size.hpp"
#include "reference/spec/value_rules.hpp"

#include "gpu/collectives/registry.hpp"
#include "gpu/device/cuda/cluster.hpp"
#include "gpu/device/cuda/devices.hpp"
#include "gpu/device/cuda/enqueue.hpp"
#include "gpu/device/cuda/error.hpp"
#include "gpu/device/cuda/fft_library.hpp"
#include "gpu/device/cuda/graphs.hpp"
#include "gpu/device/cuda/link_ends.hpp"
#include "gpu/device/cuda/planted_write.hpp"
#include "gpu/device/cuda/presence.hpp"
#include "gpu/device/driver_release.hpp"
#include "gpu/plan/merge.hpp"

#include "harness/backend/stage_images.hpp"
#include "harness/backend/stages.hpp"
#include "harness/case/input.hpp"
#include "harness/run/exit_status.hpp"
#include "harness/worker/serve.hpp"

#include "cases/devices/algorithms.hpp"
#include "cases/devices/link_probe.hpp"
#include "cases/families/collectives/case.hpp"
#include "cases/families/collectives/inputs.hpp"
#include "cases/families/ptycho/case.hpp"
#include "cases/workers/arrival.hpp"
#include "cases/workers/cuda_process.hpp"
#include "cases/workers/cuda_times.hpp"
#include "cases/workers/description.hpp"
#include "cases/workers/placed_image.hpp"

/// rankcheck-worker-cuda: one process that hosts all ranks on its CUDA devices and serves the
/// harness.
namespace rankcheck::cases {

namespace {

using harness::Case;
using harness::Observation;
namespace cuda = gpu::cuda;
namespace worker = harness::worker;

const Algorithms& algorithms() {
  static const Algorithms all{gpu::implementations(), gpu::operators()};
  return all;
}

/// For stand-in devices: what provides their memory. Empty for real devices.
const char* foreign_memory() {
  return cuda::on_host() ? "host: a stand-in, not CUDA" : "";
}

nlohmann::json versions() {
  int driver = 0;
  int runtime = 0;
  int count = 0;
  cuda::check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  cuda::check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  cuda::check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  nlohmann::json devices = nlohmann::json::array();
  for (int d = 0; d < count; ++d) {
    cudaDeviceProp properties{};
    cuda::check(cudaGetDeviceProperties(&properties, d), "cudaGetDeviceProperties");
    devices.push_back(fmt::format("{} (compute capability {}.{}, {} MiB)",
                                  properties.name,
                                  properties.major,
                                  properties.minor,
                                  properties.totalGlobalMem >> 20));
  }
  nlohmann::json all{{"cuda_driver", cuda::version_text(driver)},
                     {"cuda_runtime", cuda::version_text(runtime)},
                     {"cuda_queues", std::getenv(queues_variable)},
                     {"devices", std::move(devices)}};
  if (const auto release = gpu::driver_release(); !release.empty()) all["nvidia_driver"] = release;
  all["cufft"] = cuda::fft_library().version_text();
  all["cufft_library"] = cuda::fft_library().text();
  if (cuda::on_host()) all["memory"] = foreign_memory();
  if (!cuda::wants_graphs()) all["cuda_graphs"] = "none";
  return all;
}

class CudaSubject final : public worker::Subject {
 public:
  explicit CudaSubject(int ranks)
      : world_(ranks),
        devices_(ranks),
        cluster_(devices_, reference::contract_named, gpu::algorithm_for),
        graphs_(devices_) {}

  [[nodiscard]] worker::Hello hello() const override {
    worker::Hello hello;
    hello.world = world_;
    for (int r = 0; r < world_; ++r) hello.ranks.push_back(r);
    hello.traits = {.name = "cuda",
                    .zero_rule = spec::ZeroRule::ieee,
                    .ranks_max = world_,
                    .has_streams = true,
                    .has_delays = true,
                    .has_overlaps = true};
    for (harness::AlgorithmInfo& each : algorithms().infos()) {
      hello.algorithms.push_back({.info = std::move(each), .environment = {}});
    }
    hello.versions = versions();
    return hello;
  }

  [[nodiscard]] std::string why_refused(const Case& c) const override {
    if (c.ranks > world_) return fmt::format("ranks: expected at most {}", world_);
    if (!c.fault.empty()) return "fault: only the simulator plants faults";
    if (c.schedule != Case().schedule) return "schedule: only the simulator supports schedules";
    if ((c.late >= 0 || c.overlaps) && algorithms().choose(c).plan == nullptr) {
      return c.late >= 0 ? "late: operators begin on all ranks at once"
                         : "overlaps: operators run alone";
    }
    if (reference::contract_named(c.operation).synchronises && !devices_.can_stamp()) {
      return "operation: it needs devices that can do atomics on each other's memory";
    }
    return algorithms().why_none(c);
  }

  void run(std::span<const Case> stages,
           const worker::Entered& entered,
           Observation& result) override {
    result.stages.resize(stages.size());
    for (std::size_t first = 0; first < stages.size();) {
      const std::size_t last = end_of_batch(stages, first);
      try {
        // All calls of the batch are enqueued before the first one begins.
        for (std::size_t k = first; k < last; ++k) {
          for (const int rank : harness::members(stages[k])) entered(rank, k);
        }
        run_batch(stages, first, last, result);
      } catch (const gpu::DeviceError& error) {
        end_if_broken(devices_, error.what());
        result.status = harness::RunStatus::failed;
        result.reason =
            fmt::format("stage {} ({}): {}", first, stages[first].operation, error.what());
        return;
      }
      first = last;
    }
  }

 private:
  /// The memory of a rank in one call.
  struct RankImage {
    /// The stage, and the rank's place in the stage's group.
    std::size_t stage = 0;
    std::size_t place = 0;
    PlacedImage memory;
    /// If the call synchronises: a counter, and the numbers that it had when the rank entered and
    /// left. All ranks use the counter of the first rank, which has one if any call synchronises.
    std::int64_t* stamps = nullptr;
  };

  /// Calls that groups make at the same time, or a history, and their ranks, call by call.
  struct Batch {
    std::span<const Case> stages;
    std::size_t first = 0;
    std::size_t last = 0;
    std::vector<gpu::RankMemory> memory = {};
    std::vector<RankImage> images = {};

    [[nodiscard]] const Case& c() const { return stages[first]; }
    [[nodiscard]] std::span<const Case> calls() const {
      return stages.subspan(first, last - first);
    }
  };

  /// The end of the stages that run at the same time. Operators run alone.
  static std::size_t end_of_batch(std::span<const Case> stages, std::size_t first) {
    const std::size_t last = harness::runs_as_one(stages) && !are_for_graphs(stages)
                                 ? stages.size()
                                 : harness::end_of_stages_at_once(stages, first);
    const auto is_plan = [](const Case& c) { return algorithms().choose(c).plan != nullptr; };
    return std::all_of(stages.begin() + static_cast<std::ptrdiff_t>(first),
                       stages.begin() + static_cast<std::ptrdiff_t>(last),
                       is_plan)
               ? last
               : first + 1;
  }

  /// Whether the calls of a history are made one by one, so that graphs can have them: no rank
  /// needs to be ahead of another one.
  [[nodiscard]] static bool are_for_graphs(std::span<const Case> stages) {
    const auto needs_order = [](const Case& c) {
      return c.overlaps || c.late >= 0 || synchronises(c);
    };
    return std::ranges::none_of(stages, needs_order);
  }

  [[nodiscard]] static bool synchronises(const Case& c) {
    return reference::contract_named(c.operation).synchronises;
  }

  void run_batch(std::span<const Case> stages,
                 std::size_t first,
                 std::size_t last,
                 Observation& result) {
    Batch batch{.stages = stages, .first = first, .last = last};
    std::vector<int> members;
    for (std::size_t k = first; k < last; ++k) {
      for (const int rank : harness::members(stages[k])) members.push_back(rank);
    }
    cluster_.begin(members);
    for (std::size_t k = first; k < last; ++k) prepare(k, batch, result);
    prepare_stamps(batch);
    devices_.synchronize();
    const std::int64_t begin_ns = now_ns();
    const SelectedAlgorithm selected = algorithms().choose(batch.c());
    if (selected.plan != nullptr) {
      run_plans(batch, result);
    } else {
      std::vector<gpu::DeviceBuffers> buffers;
      for (const gpu::RankMemory& each : batch.memory) buffers.push_back({each.send, each.recv});
      const spec::OperatorCall arguments = operator_call(batch.c());
      const spec::Contract& contract = reference::contract_named(batch.c().operation);
      cluster_.batch_max = batch.c().chunk;
      for (int r = 0; r < devices_.ranks(); ++r) enter(batch, r);
      selected.op->run({cluster_, contract, arguments, buffers});
      for (int r = 0; r < devices_.ranks(); ++r) leave(batch, r);
      result.path.emplace_back(selected.op->name);
    }
    devices_.synchronize();
    const harness::Stamp whole{.entered = begin_ns, .left = now_ns()};
    read_images(batch, whole, result);
  }

  /// Enqueues a pause on the stream of a rank.
  void pause(int rank, std::int64_t delay_ns) {
    auto* const numbers =
        reinterpret_cast<std::int64_t*>(devices_.allocate(rank, 2 * sizeof(std::int64_t)));
    devices_.stamp(rank, delay_ns, numbers, numbers + 1);
  }

  /// Enqueues what a rank does just before its call. It lets a pending image arrive late, comes
  /// late, and stamps the time at which it enters a synchronising call.
  void enter(const Batch& batch, int rank) {
    const RankImage& own = batch.images[spec::to_size(rank)];
    const Case& c = batch.stages[own.stage];
    if (own.memory.is_pending()) {
      // Longer than this process needs to enqueue the call.
      pause(rank, 2'000'000);
      own.memory.arrive(devices_, rank);
    }
    constexpr std::int64_t delay_ns = 200'000;
    if (c.late == static_cast<int>(own.place)) pause(rank, delay_ns);
    if (!synchronises(c)) return;
    // One rank comes late, so that a call that waits for nobody is detected.
    const bool is_late = c.data_seed % spec::to_size(group_size(c)) == own.place;
    devices_.stamp(rank, is_late ? delay_ns : 0, batch.images.front().stamps, own.stamps + 1);
  }

  /// Enqueues what a rank does right behind its call. It stamps the time, and copies the image of a
  /// pending case.
  void leave(const Batch& batch, int rank) {
    const RankImage& own = batch.images[spec::to_size(rank)];
    if (synchronises(batch.stages[own.stage])) {
      devices_.stamp(rank, 0, batch.images.front().stamps, own.stamps + 2);
    }
    own.memory.keep_result(devices_, rank);
  }

  void read_images(const Batch& batch, const harness::Stamp& whole, Observation& result) {
    for (std::size_t r = 0; r < batch.images.size(); ++r) {
      const RankImage& each = batch.images[r];
      harness::StageOutcome& outcome = result.stages[each.stage];
      outcome.stamps[each.place] = whole;
      if (synchronises(batch.stages[each.stage])) {
        // The devices wrote the stamps of a synchronising operation.
        std::array<std::int64_t, 2> times{};
        devices_.read(static_cast<int>(r), each.stamps + 1, times.data(), sizeof times);
        outcome.stamps[each.place] = {.entered = times[0], .left = times[1]};
      }
      each.memory.read(devices_, static_cast<int>(r), outcome.images[each.place]);
    }
  }

  /// Makes the image of every rank of a stage and copies it to the rank's device.
  void prepare(std::size_t k, Batch& batch, Observation& result) {
    const Case& c = batch.stages[k];
    const auto add = [&](const harness::HostedMember& member) {
      const int rank = static_cast<int>(batch.images.size());
      const PlacedImage placed = place_image(devices_, rank, c.pending, member.image);
      batch.images.push_back(
          {.stage = k, .place = member.place, .memory = placed, .stamps = nullptr});
      batch.memory.push_back(
          {.send = member.send_in(placed.image), .recv = member.recv_in(placed.image)});
      if (!has_scalar(c)) return;
      std::array<std::byte, 16> scalar{};
      fill_scalar(c, member.world_rank, scalar.data());
      batch.memory.back().scalar = copy_to_device(devices_, rank, scalar);
    };
    prepare_members(
        {.contract_of = reference::contract_named}, batch.stages, k, layout_, result, add);
  }

  /// Gives the ranks of synchronising calls memory for stamps, and the first rank a counter.
  void prepare_stamps(Batch& batch) {
    const std::span<const Case> calls = batch.calls();
    if (std::ranges::none_of(calls, synchronises)) return;
    constexpr std::array<std::int64_t, 3> zeros{};
    for (int r = 0; r < devices_.ranks(); ++r) {
      RankImage& own = batch.images[spec::to_size(r)];
      if (r > 0 && !synchronises(batch.stages[own.stage])) continue;
      own.stamps = reinterpret_cast<std::int64_t*>(
          copy_to_device(devices_, r, std::as_bytes(std::span(zeros))));
    }
  }

  /// Writes the plan of a stage.
  void write_plan(const Case& c, gpu::plan::Plan& plan, Observation& result) {
    const gpu::plan::Algorithm& algorithm = *algorithms().choose(c).plan;
    const spec::Call call = collective_call(c);
    builder_.begin(plan, reference::contract_named(c.operation), call, options_of(c));
    algorithm.plan(builder_);
    result.path.emplace_back(algorithm.name);
  }

  void run_plans(Batch& batch, Observation& result) {
    const std::span<const Case> calls = batch.calls();
    if (calls.size() == 1) {
      write_plan(batch.c(), plan_, result);
    } else {
      std::vector<gpu::plan::Plan> plans(calls.size());
      for (std::size_t k = 0; k < plans.size(); ++k) write_plan(calls[k], plans[k], result);
      merge(plans, plan_);
      if (harness::runs_as_one(batch.stages)) plan_.order = harness::program_order(calls);
    }
    for (int r = 0; r < devices_.ranks(); ++r) {
      const auto at = spec::to_size(r);
      batch.memory[at].scratch =
          devices_.allocate(r, plan_.scratch[at] * plan_.arithmetic[at].element_bytes());
    }
    const auto entering = [&](int rank) { enter(batch, rank); };
    const auto left = [&](int rank) { leave(batch, rank); };
    if (!plan_.order.empty()) {
      // What ranks do before a call must not come before the calls that precede it.
      cuda::enqueue({plan_, batch.memory, {}, entering, left}, devices_);
      return;
    }
    for (int r = 0; r < devices_.ranks(); ++r) entering(r);
    const auto needs_order = [](const Case& c) { return c.late >= 0 || synchronises(c); };
    if (std::ranges::any_of(calls, needs_order)) {
      // A graph would wait for the late rank before it begins on any rank, and synchronise the
      // ranks. It also waits for inputs that are pending, and whether it does so is what such cases
      // are for.
      cuda::enqueue({plan_, batch.memory}, devices_);
    } else {
      graphs_.enqueue({plan_, batch.memory, devices_.members()});
    }
    for (int r = 0; r < devices_.ranks(); ++r) left(r);
  }

  int world_;
  cuda::Devices devices_;
  cuda::CudaCluster cluster_;
  cuda::Graphs graphs_;
  gpu::plan::Builder builder_;
  gpu::plan::Plan plan_;
  harness::ImageLayout layout_;
};

/// Returns one line for each reason why cases cannot run here. Empty if they can.
std::vector<std::string> complaints() {
  std::vector<std::string> all = cuda::complaints();
  try {
    static_cast<void>(cuda::wants_graphs());
  } catch (const gpu::DeviceError& error) {
    all.emplace_back(error.what());
  }
  return all;
}

/// Returns cuFFT's version and file. Empty if cuFFT cannot be loaded.
std::string cufft_text() {
  try {
    const cuda::FftLibrary& library = cuda::fft_library();
    return fmt::format("cuFFT {}: {}", library.version_text(), library.text());
  } catch (const gpu::DeviceError&) {
    return {};
  }
}

/// Prints why no device can be used, the devices, and the algorithms. Works without a device.
void describe() {
  nlohmann::ordered_json out = describe_state(complaints(), cufft_text());
  out["devices"] = nlohmann::ordered_json::array();
  for (cuda::DeviceInfo& each : cuda::physical_devices()) {
    each.memory = foreign_memory();
    out["devices"].push_back(hardware::to_json(each));
  }
  print_description(std::move(out), algorithms().infos());
}

/// Prints the result of probing a link, or why the devices cannot do the requested probe.
void probe(const char* text) {
  const hardware::ProbeRequest request = hardware::request_from_json(nlohmann::json::parse(text));
  try {
    const auto ends =
        cuda::make_link_ends(request.from, request.to, request.bytes, request.probe.method);
    fmt::print("{}\n", hardware::to_json(probe_link(*ends, request.probe)).dump());
  } catch (const cuda::Unreachable& why) {
    fmt::print("{}\n", nlohmann::json{{"skipped", why.what()}}.dump());
  }
}

/// Answers each line of the standard input, which is a probe.
void probe_each_line() {
  for (std::string line; std::getline(std::cin, line);) {
    try {
      probe(line.c_str());
    } catch (const nlohmann::json::parse_error&) {
      throw std::runtime_error("--probes: got " + line + ", expected a line of JSON");
    }
    std::fflush(stdout);
  }
}

int main_with(int argc, char** argv) {
  choose_queues();
  const std::string_view word = argc > 1 ? argv[1] : "";
  if (word == "--describe") {
    describe();
    return 0;
  }
  if (word == "--probe" && argc > 2) {
    end_with_harness();
    probe(argv[2]);
    return 0;
  }
  if (word == "--probes" && argc == 2) {
    end_with_harness();
    probe_each_line();
    return 0;
  }
  if (word == "--write-out-of-bounds" && argc == 2) {
    end_with_harness();
    cuda::write_out_of_bounds();
    return 0;
  }
  if (word == "--time" && argc > 2) {
    end_with_harness();
    const auto request = bench::times_request_from_json(nlohmann::json::parse(argv[2]));
    fmt::print("{}\n", to_json(time_on_devices(algorithms(), request)).dump());
    return 0;
  }
  int ranks = 0;
  const std::string_view count = argc > 2 ? argv[2] : "";
  const char* const end = count.data() + count.size();
  const bool is_number = std::from_chars(count.data(), end, ranks).ptr == end;
  if (word != "--ranks" || argc > 3 || !is_number || ranks < 1 || ranks > cuda_ranks_max) {
    std::fprintf(stderr,
                 "rankcheck-worker-cuda: expected --ranks N of at most %d, --describe, "
                 "--probe JSON, --probes, --time JSON or --write-out-of-bounds\n",
                 cuda_ranks_max);
    return harness::run::status_unable;
  }
  end_with_harness();
  CudaSubject subject(ranks);
  worker::serve(subject, worker::connect_to_harness());
  return 0;
}

}  // namespace

}  // namespace rankcheck::cases

int main(int argc, char** argv) {
  try {
    return rankcheck::cases::main_with(argc, argv);
  } catch (const nlohmann::json::parse_error&) {
    std::fprintf(stderr, "rankcheck-worker-cuda: %s: got %s, expected JSON\n", argv[1], argv[2]);
    return rankcheck::harness::run::status_unable;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rankcheck-worker-cuda: %s\n", error.what());
    return 1;
  }
}
