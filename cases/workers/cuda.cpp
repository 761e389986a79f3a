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
  };

  /// Calls that groups make at the same time, or that overlap, and their ranks, call by call.
  struct Batch {
    std::span<const Case> stages;
    std::size_t first = 0;
    std::size_t last = 0;
    std::vector<gpu::RankMemory> memory;
    std::vector<RankImage> images;

    [[nodiscard]] const Case& c() const { return stages[first]; }
  };

  /// The end of the stages that run at the same time. Operators run alone.
  static std::size_t end_of_batch(std::span<const Case> stages, std::size_t first) {
    const std::size_t last = std::max(harness::end_of_stages_at_once(stages, first),
                                      harness::end_of_overlap(stages, first));
    const bool is_plan = algorithms().choose(stages[first]).plan != nullptr;
    return is_plan ? last : first + 1;
  }

  [[nodiscard]] static bool synchronises(const Case& c) {
    return reference::contract_named(c.operation).synchronises;
  }

  void run_batch(std::span<const Case> stages,
                 std::size_t first,
                 std::size_t last,
                 Observation& result) {
    Batch batch{.stages = stages, .first = first, .last = last, .memory = {}, .images = {}};
    std::vector<int> members;
    for (std::size_t k = first; k < last; ++k) {
      for (const int rank : harness::members(stages[k])) members.push_back(rank);
    }
    cluster_.begin(members);
    for (std::size_t k = first; k < last; ++k) prepare(k, batch, result);
    devices_.synchronize();
    send_images(batch);
    delay_late(batch);
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
      selected.op->run({cluster_, contract, arguments, buffers});
      result.path.emplace_back(selected.op->name);
    }
    keep_results(batch);
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

  /// Lets the images of pending cases arrive, late and on the streams.
  void send_images(const Batch& batch) {
    // Longer than this process needs to enqueue the call.
    constexpr std::int64_t delay_ns = 2'000'000;
    for (std::size_t r = 0; r < batch.images.size(); ++r) {
      const int rank = static_cast<int>(r);
      if (!batch.images[r].memory.is_pending()) continue;
      pause(rank, delay_ns);
      batch.images[r].memory.arrive(devices_, rank);
    }
  }

  /// Delays the late rank of each stage.
  void delay_late(const Batch& batch) {
    constexpr std::int64_t delay_ns = 200'000;
    for (std::size_t r = 0; r < batch.images.size(); ++r) {
      const RankImage& each = batch.images[r];
      if (batch.stages[each.stage].late == static_cast<int>(each.place)) {
        pause(static_cast<int>(r), delay_ns);
      }
    }
  }

  /// Enqueues copies of the images of pending cases right behind the calls.
  void keep_results(const Batch& batch) {
    for (std::size_t r = 0; r < batch.images.size(); ++r) {
      batch.images[r].memory.keep_result(devices_, static_cast<int>(r));
    }
  }

  void read_images(const Batch& batch, const harness::Stamp& whole, Observation& result) {
    for (std::size_t r = 0; r < batch.images.size(); ++r) {
      const RankImage& each = batch.images[r];
      harness::StageOutcome& outcome = result.stages[each.stage];
      // A synchronising operation has stamps that its devices wrote.
      if (!synchronises(batch.stages[each.stage])) {
        outcome.stamps[each.place] = whole;
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
      batch.images.push_back({.stage = k, .place = member.place, .memory = placed});
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

  /// Writes the plan of a stage.
  void write_plan(const Case& c, gpu::plan::Plan& plan, Observation& result) {
    const gpu::plan::Algorithm& algorithm = *algorithms().choose(c).plan;
    const spec::Call call = collective_call(c);
    builder_.begin(plan, reference::contract_named(c.operation), call, options_of(c));
    algorithm.plan(builder_);
    result.path.emplace_back(algorithm.name);
  }

  void run_plans(Batch& batch, Observation& result) {
    const std::size_t plan_count = batch.last - batch.first;
    if (plan_count == 1) {
      write_plan(batch.c(), plan_, result);
    } else {
      std::vector<gpu::plan::Plan> plans(plan_count);
      for (std::size_t k = 0; k < plans.size(); ++k) {
        write_plan(batch.stages[batch.first + k], plans[k], result);
      }
      merge(plans, plan_);
    }
    for (int r = 0; r < devices_.ranks(); ++r) {
      const auto at = spec::to_size(r);
      batch.memory[at].scratch =
          devices_.allocate(r, plan_.scratch[at] * plan_.arithmetic[at].element_bytes());
    }
    const auto calls = batch.stages.subspan(batch.first, plan_count);
    if (std::ranges::any_of(calls, synchronises)) {
      run_with_stamps(batch, result);
    } else if (std::ranges::any_of(
                   calls, [](const Case& each) { return each.late >= 0 || each.overlaps; })) {
      // A graph would wait for the late rank before it begins on any rank, and for all calls. It
      // also waits for inputs that are pending, and whether it does so is what such cases are for.
      cuda::enqueue({plan_, batch.memory}, devices_);
    } else {
      graphs_.enqueue({plan_, batch.memory, devices_.members()});
    }
  }

  /// Lets the devices write when each rank enters and leaves.
  void run_with_stamps(const Batch& batch, Observation& result) {
    const int n = devices_.ranks();
    std::array<std::int64_t, 3> zeros{};
    std::vector<std::int64_t*> stamps;
    for (int r = 0; r < n; ++r) {
      auto* const of_rank = reinterpret_cast<std::int64_t*>(
          devices_.allocate(r, static_cast<std::int64_t>(sizeof zeros)));
      devices_.write(r, zeros.data(), of_rank, static_cast<std::int64_t>(sizeof zeros));
      stamps.push_back(of_rank);
    }
    // One rank of each call comes late, so that a call that waits for nobody is detected.
    constexpr std::int64_t delay_ns = 200'000;
    for (int r = 0; r < n; ++r) {
      const RankImage& rank = batch.images[spec::to_size(r)];
      const Case& c = batch.stages[rank.stage];
      const bool is_late = c.data_seed % spec::to_size(group_size(c)) == rank.place;
      devices_.stamp(r, is_late ? delay_ns : 0, stamps[0], stamps[spec::to_size(r)] + 1);
    }
    // A graph must not be used here: its launch would synchronise the ranks, which is the plan's
    // task.
    cuda::enqueue({plan_, batch.memory}, devices_);
    for (int r = 0; r < n; ++r) {
      devices_.stamp(r, 0, stamps[0], stamps[spec::to_size(r)] + 2);
    }
    for (int r = 0; r < n; ++r) {
      std::array<std::int64_t, 2> times{};
      devices_.read(
          r, stamps[spec::to_size(r)] + 1, times.data(), static_cast<std::int64_t>(sizeof times));
      const RankImage& rank = batch.images[spec::to_size(r)];
      result.stages[rank.stage].stamps[rank.place] = {.entered = times[0], .left = times[1]};
    }
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
