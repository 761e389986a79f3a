#include "cases/backends/cuda.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <span>
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
#include "gpu/plan/schedule.hpp"

#include "harness/input.hpp"
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

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
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
  nlohmann::json all{{"cuda_driver", version_text(driver)},
                     {"cuda_runtime", version_text(runtime)},
                     {"cuda_queues", std::getenv(queues_variable)},
                     {"devices", std::move(devices)}};
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
    hello.traits = {.name = "cuda", .zero_rule = spec::ZeroRule::ieee, .ranks_max = world_};
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
    if (reference::contract_named(c.operation).synchronises && !devices_.can_stamp()) {
      return "operation: it needs devices that can do atomics on each other's memory";
    }
    return algorithms().why_none(c);
  }

  void run(std::span<const Case> stages,
           const worker::Entered& entered,
           Observation& result) override {
    result.stages.resize(stages.size());
    for (std::size_t k = 0; k < stages.size(); ++k) {
      try {
        for (const int rank : harness::members(stages[k])) entered(rank, k);
        run_stage(stages, k, result);
      } catch (const gpu::DeviceError& error) {
        end_if_broken(error.what());
        result.status = harness::RunStatus::failed;
        result.reason = fmt::format("stage {} ({}): {}", k, stages[k].operation, error.what());
        return;
      }
    }
  }

 private:
  /// The memory of one call on the devices.
  struct Call {
    const Case& c;
    const spec::Contract& contract;
    std::vector<cuda::RankMemory> memory;
    std::vector<std::byte*> images;
  };

  /// Ends the process if the devices no longer work. After most kernel errors nothing on the device
  /// works; only a fresh process can continue.
  void end_if_broken(const char* what) const {
    if (devices_.still_work()) return;
    std::fprintf(stderr, "%s\n", what);
    std::_Exit(1);
  }

  void run_stage(std::span<const Case> stages, std::size_t k, Observation& result) {
    const Case& c = stages[k];
    Call call{c, reference::contract_named(c.operation), {}, {}};
    cluster_.begin(harness::members(c));
    prepare(stages, k, call, result);
    devices_.synchronize();
    const std::int64_t begin_ns = now_ns();
    const SelectedAlgorithm selected = algorithms().choose(c);
    if (selected.plan != nullptr) {
      run_plan(*selected.plan, call, result.stages[k]);
      result.path.emplace_back(selected.plan->name);
    } else {
      std::vector<gpu::DeviceBuffers> buffers;
      for (const cuda::RankMemory& each : call.memory) buffers.push_back({each.send, each.recv});
      const spec::OperatorCall arguments = operator_call(c);
      cluster_.batch_max = c.chunk;
      selected.op->run({cluster_, call.contract, arguments, buffers});
      result.path.emplace_back(selected.op->name);
    }
    devices_.synchronize();
    // A synchronising operation has stamps that its devices wrote.
    if (!call.contract.synchronises) {
      const harness::Stamp whole{.entered = begin_ns, .left = now_ns()};
      result.stages[k].stamps.assign(call.images.size(), whole);
    }
    for (std::size_t r = 0; r < call.images.size(); ++r) {
      harness::Image& image = result.stages[k].images[r];
      devices_.read(static_cast<int>(r),
                    call.images[r],
                    image.data(),
                    static_cast<std::int64_t>(image.size()));
    }
  }

  /// Makes every rank's image and copies it to the rank's device.
  void prepare(std::span<const Case> stages, std::size_t k, Call& call, Observation& result) {
    const std::vector<int> members = harness::members(call.c);
    harness::StageOutcome& outcome = result.stages[k];
    outcome.images.resize(members.size());
    outcome.stamps.assign(members.size(), {});
    std::vector<const std::byte*> left(k);
    for (std::size_t r = 0; r < members.size(); ++r) {
      const int rank = static_cast<int>(r);
      for (std::size_t s = 0; s < k; ++s) left[s] = result.stages[s].images[r].data();
      harness::Image& image = outcome.images[r];
      prepare_stage(reference::contract_named,
                    stages,
                    k,
                    rank,
                    harness::ResultPlace::own_block,
                    left,
                    layout_,
                    image);
      const auto bytes = static_cast<std::int64_t>(image.size());
      std::byte* const there = devices_.allocate(rank, bytes);
      devices_.write(rank, image.data(), there, bytes);
      call.images.push_back(there);
      call.memory.push_back({.send = layout_.send < 0 ? nullptr : there + layout_.send,
                             .recv = layout_.recv < 0 ? nullptr : there + layout_.recv});
      if (has_scalar(call.c)) {
        std::array<std::byte, 16> scalar{};
        fill_scalar(call.c, members[r], scalar.data());
        std::byte* const scalar_there = devices_.allocate(rank, scalar.size());
        devices_.write(rank, scalar.data(), scalar_there, scalar.size());
        call.memory.back().scalar = scalar_there;
      }
    }
  }

  void run_plan(const gpu::plan::Algorithm& algorithm, Call& call, harness::StageOutcome& outcome) {
    const spec::Call arguments = collective_call(call.c);
    builder_.begin(plan_, call.contract, arguments, options_of(call.c));
    algorithm.plan(builder_);
    const int n = devices_.ranks();
    for (int r = 0; r < n; ++r) {
      const std::int64_t elements = plan_.scratch[spec::to_size(r)];
      call.memory[spec::to_size(r)].scratch =
          devices_.allocate(r, elements * spec::info(call.c.type).bytes);
    }
    if (!call.contract.synchronises) {
      graphs_.enqueue({plan_, call.c.type, collective(call.c).op, call.memory, devices_.members()});
      return;
    }
    std::array<std::int64_t, 3> zeros{};
    std::vector<std::int64_t*> stamps;
    for (int r = 0; r < n; ++r) {
      auto* const of_rank = reinterpret_cast<std::int64_t*>(
          devices_.allocate(r, static_cast<std::int64_t>(sizeof zeros)));
      devices_.write(r, zeros.data(), of_rank, static_cast<std::int64_t>(sizeof zeros));
      stamps.push_back(of_rank);
    }
    // One rank comes late, so that a call that waits for nobody is detected.
    constexpr std::int64_t delay_ns = 200'000;
    const int late = static_cast<int>(call.c.data_seed % static_cast<std::uint64_t>(n));
    for (int r = 0; r < n; ++r) {
      devices_.stamp(r, r == late ? delay_ns : 0, stamps[0], stamps[spec::to_size(r)] + 1);
    }
    // A graph must not be used here: its launch would synchronise the ranks, which is the plan's
    // task.
    cuda::enqueue(plan_, call.c.type, collective(call.c).op, call.memory, devices_);
    for (int r = 0; r < n; ++r) {
      devices_.stamp(r, 0, stamps[0], stamps[spec::to_size(r)] + 2);
    }
    for (int r = 0; r < n; ++r) {
      std::array<std::int64_t, 2> times{};
      devices_.read(
          r, stamps[spec::to_size(r)] + 1, times.data(), static_cast<std::int64_t>(sizeof times));
      outcome.stamps[spec::to_size(r)] = {.entered = times[0], .left = times[1]};
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
  out["algorithms"] = nlohmann::ordered_json::array();
  for (const cuda::DeviceInfo& each : cuda::physical_devices()) {
    out["devices"].push_back(to_json(hardware::Device{.name = each.name,
                                                      .bus = each.bus,
                                                      .capability = each.capability,
                                                      .memory_bytes = each.memory_bytes,
                                                      .memory = foreign_memory()}));
  }
  for (const harness::AlgorithmInfo& each : algorithms().infos()) {
    out["algorithms"].push_back(
        {{"operation", each.operation}, {"name", each.name}, {"summary", each.summary}});
  }
  fmt::print("{}\n", out.dump());
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
                 "--probe JSON or --time JSON\n",
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
    std::fprintf(stderr, "rankcheck-worker-cuda: %s: expected JSON, got %s\n", argv[1], argv[2]);
    return rankcheck::harness::run::status_unable;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rankcheck-worker-cuda: %s\n", error.what());
    return 1;
  }
}
