#include "cases/backends/hybrid.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reference/registry.hpp"
#include "reference/spec/assert.hpp"
#include "reference/spec/to_size.hpp"
#include "reference/spec/value_rules.hpp"

#include "gpu/collectives/registry.hpp"
#include "gpu/device/hybrid/cluster.hpp"
#include "gpu/device/hybrid/mpi_processes.hpp"
#include "gpu/ptycho/registry.hpp"

#include "harness/backend/preference.hpp"
#include "harness/backend/stage_images.hpp"
#include "harness/backend/stages.hpp"
#include "harness/base/path.hpp"
#include "harness/case/input.hpp"
#include "harness/run/exit_status.hpp"
#include "harness/worker/serve.hpp"

#include "cases/devices/algorithms.hpp"
#include "cases/families/collectives/case.hpp"
#include "cases/families/collectives/inputs.hpp"
#include "cases/families/ptycho/case.hpp"
#include "cases/workers/arrival.hpp"
#include "cases/workers/cuda_process.hpp"
#include "cases/workers/description.hpp"
#include "cases/workers/hybrid_process.hpp"
#include "cases/workers/mpi_process.hpp"
#include "cases/workers/placed_image.hpp"

/// rankcheck-worker-hybrid: one of the MPI processes that host several devices each. It serves the
/// ranks on its devices to the harness.
namespace rankcheck::cases {

namespace {

using harness::Case;
using harness::Observation;
namespace hybrid = gpu::hybrid;
namespace worker = harness::worker;

const Algorithms& algorithms() {
  static const Algorithms all{gpu::implementations(), gpu::operators()};
  return all;
}

constexpr const char* staged = "staged";
constexpr const char* direct = "direct";

/// Returns the algorithms of collectives and operators. A collective has an algorithm for each way
/// in which messages can leave a device.
std::vector<harness::AlgorithmInfo> algorithm_infos() {
  std::vector<harness::AlgorithmInfo> all;
  for (const gpu::Implementation& each : gpu::implementations()) {
    const std::string operation(each.operation);
    if (!all.empty() && all.back().operation == operation) continue;
    all.push_back({operation,
                   direct,
                   "All processes run one of the plans, which data_seed chooses. MPI gets the "
                   "addresses of the devices' memory."});
    all.push_back({operation,
                   staged,
                   "All processes run one of the plans, which data_seed chooses. Messages of MPI "
                   "go through memory of the host."});
  }
  for (harness::AlgorithmInfo& each : Algorithms{{}, gpu::operators()}.infos()) {
    all.push_back(std::move(each));
  }
  return all;
}

bool is_collective(const Case& c) {
  return spec::family(reference::contract_named(c.operation)) == spec::CollectiveTraits::family;
}

/// Returns the case as the plans know it: `staged` and `direct` stand for the plan that the case
/// prefers.
Case with_open_plan(Case c) {
  if (is_collective(c)) c.algorithm.clear();
  return c;
}

class HybridSubject final : public worker::Subject {
 public:
  explicit HybridSubject(const hybrid::Placement& placement)
      : placement_(placement),
        devices_(make_own_devices(placement, processes_)),
        cluster_(processes_, *devices_, placement, reference::contract_named, gpu::algorithm_for) {}

  [[nodiscard]] worker::Hello hello() const override {
    worker::Hello hello;
    hello.world = placement_.ranks;
    for (int rank = 0; rank < placement_.ranks; ++rank) {
      if (is_here(rank)) hello.ranks.push_back(rank);
    }
    hello.traits = {.name = "hybrid",
                    .zero_rule = spec::ZeroRule::ieee,
                    .ranks_max = placement_.ranks,
                    .has_delays = true,
                    .has_overlaps = true};
    for (harness::AlgorithmInfo& each : algorithm_infos()) {
      hello.algorithms.push_back({.info = std::move(each), .environment = {}});
    }
    for (const auto& [name, version] : devices_->versions()) hello.versions[name] = version;
    hello.versions["devices_per_process"] = placement_.devices_per_process;
    hello.versions["mpi"] = hybrid::MpiProcesses::version();
    return hello;
  }

  [[nodiscard]] std::string why_refused(const Case& c) const override {
    if (c.ranks > placement_.ranks)
      return fmt::format("ranks: expected at most {}", placement_.ranks);
    if (!c.fault.empty()) return "fault: only the simulator plants faults";
    if (c.schedule != Case().schedule) return "schedule: only the simulator supports schedules";
    if (reference::find_contract(c.operation) != nullptr && is_collective(c)) {
      const bool is_known = c.algorithm.empty() || c.algorithm == staged || c.algorithm == direct;
      if (!is_known) return harness::why_no_algorithm(c, {staged, direct});
      if (!spec::commutes(collective(c).op)) {
        return "op: each process combines its own ranks first, in another order than that of ranks";
      }
      if (c.algorithm == direct && is_closed_to_mpi()) {
        return "algorithm: the MPI library does not take addresses of CUDA devices";
      }
      return algorithms().why_none(with_open_plan(c));
    }
    if (c.late >= 0) return "late: operators begin on all ranks at once";
    if (c.overlaps) return "overlaps: operators run alone";
    return algorithms().why_none(c);
  }

  void run(std::span<const Case> stages,
           const worker::Entered& entered,
           Observation& result) override {
    result.stages.resize(stages.size());
    result.path.assign(stages.size(), {});
    for (std::size_t first = 0; first < stages.size();) {
      const std::size_t last = end_of_batch(stages, first);
      try {
        run_batch({.stages = stages, .first = first, .last = last, .group = {}, .members = {}},
                  entered,
                  result);
      } catch (const std::exception& error) {
        end_if_broken(*devices_, error.what());
        result.status = harness::RunStatus::failed;
        result.reason =
            fmt::format("stage {} ({}): {}", first, stages[first].operation, error.what());
        return;
      }
      first = last;
    }
  }

 private:
  /// A member that this process hosts, in one of the calls.
  struct LocalMember {
    /// The stage, and the member's place among those of the stage here.
    std::size_t stage = 0;
    std::size_t place = 0;
    int group_rank = 0;
    hybrid::HybridCluster::Buffers buffers;
    std::byte* image = nullptr;
  };

  /// A history, stages [first, last), or one call.
  struct Batch {
    std::span<const Case> stages;
    std::size_t first = 0;
    std::size_t last = 0;
    /// The world ranks of the members, call by call.
    std::vector<int> group;
    /// In the order of HybridCluster::local().
    std::vector<LocalMember> members;

    [[nodiscard]] const Case& c() const { return stages[first]; }
  };

  [[nodiscard]] bool is_here(int world_rank) const {
    return hybrid::process_of(placement_, world_rank) == processes_.rank();
  }

  /// Whether MPI cannot read and write the devices' memory.
  [[nodiscard]] bool is_closed_to_mpi() const {
    return devices_->has_cuda_memory() && !hybrid::MpiProcesses::takes_cuda_memory();
  }

  /// The end of the stages that run as one plan: a history of plans, or one stage.
  static std::size_t end_of_batch(std::span<const Case> stages, std::size_t first) {
    const bool are_plans =
        harness::runs_as_one(stages) &&
        std::ranges::all_of(stages, [](const Case& c) { return is_collective(c); });
    return are_plans ? stages.size() : first + 1;
  }

  void run_batch(Batch batch, const worker::Entered& entered, Observation& result) {
    for (std::size_t k = batch.first; k < batch.last; ++k) {
      for (const int rank : harness::members(batch.stages[k])) batch.group.push_back(rank);
      result.stages[k] = {};
    }
    if (std::ranges::none_of(batch.group, [&](int rank) { return is_here(rank); })) return;
    cluster_.begin(batch.group);
    for (std::size_t k = batch.first; k < batch.last; ++k) prepare(k, batch, result);
    const SelectedAlgorithm selected = algorithms().choose(with_open_plan(batch.c()));
    if (selected.plan != nullptr) {
      run_plans(batch, entered, result);
    } else {
      for (const int rank : cluster_.local()) {
        entered(batch.group[spec::to_size(rank)], batch.first);
      }
      run_operator(*selected.op, batch, result.stages[batch.first]);
      result.path[batch.first] = selected.op->name;
    }
    for (std::size_t i = 0; i < batch.members.size(); ++i) {
      const LocalMember& each = batch.members[i];
      harness::Image& image = result.stages[each.stage].images[each.place];
      cluster_.read(
          cluster_.local()[i], each.image, image.data(), static_cast<std::int64_t>(image.size()));
    }
    cluster_.end();
  }

  /// Makes the image of every local member of a stage and copies it to the member's device.
  void prepare(std::size_t k, Batch& batch, Observation& result) {
    const Case& c = batch.stages[k];
    const auto add = [&](const harness::HostedMember& member) {
      RANKCHECK_ASSERT(batch.members.size() < cluster_.local().size());
      const int rank = cluster_.local()[batch.members.size()];
      std::byte* const there = copy_to_device(cluster_, rank, member.image);
      LocalMember& added = batch.members.emplace_back(LocalMember{
          .stage = k,
          .place = member.place,
          .group_rank = member.group_rank,
          .buffers = {.data = {.send = member.send_in(there), .recv = member.recv_in(there)}},
          .image = there});
      if (!is_collective(c) || !has_scalar(c)) return;
      std::array<std::byte, 16> scalar{};
      fill_scalar(c, member.world_rank, scalar.data());
      added.buffers.scalar = copy_to_device(cluster_, rank, scalar);
    };
    prepare_members({.contract_of = reference::contract_named,
                     .hosts = [&](int world_rank) { return is_here(world_rank); }},
                    batch.stages,
                    k,
                    layout_,
                    result,
                    add);
  }

  /// Waits if a local rank is to come late.
  static void enter(const Case& c, int group_rank) {
    const bool synchronises = reference::contract_named(c.operation).synchronises;
    if (synchronises) arrive_late(c, harness::members(c), group_rank);
    wait_if_late(c, group_rank);
  }

  void run_plans(const Batch& batch, const worker::Entered& entered, Observation& result) {
    std::vector<spec::Call> arguments;
    std::vector<gpu::plan::Options> options;
    for (std::size_t k = batch.first; k < batch.last; ++k) {
      arguments.push_back(collective_call(batch.stages[k]));
      options.push_back(options_of(batch.stages[k]));
    }
    std::vector<hybrid::HybridCluster::CollectiveCall> calls;
    bool synchronises = false;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Case& c = batch.stages[batch.first + i];
      const gpu::plan::Algorithm& algorithm = *algorithms().choose(with_open_plan(c)).plan;
      const bool is_direct = c.algorithm == direct;
      calls.push_back(
          {.contract = reference::contract_named(c.operation),
           .call = arguments[i],
           .options = options[i],
           .algorithm = algorithm,
           .transport = is_direct ? hybrid::Transport::direct : hybrid::Transport::staged});
      result.path[batch.first + i] = harness::path_of(is_direct ? direct : staged, algorithm.name);
      synchronises = synchronises || calls.back().contract.synchronises;
    }
    std::vector<hybrid::HybridCluster::Buffers> buffers;
    for (const LocalMember& each : batch.members) buffers.push_back(each.buffers);
    const auto member_of = [&](int rank) -> const LocalMember& {
      const auto local = cluster_.local();
      return batch.members[spec::to_size(std::ranges::find(local, rank) - local.begin())];
    };
    const auto stamp_of = [&](const LocalMember& member) -> harness::Stamp& {
      return result.stages[member.stage].stamps[member.place];
    };
    // Otherwise, the time of all ranks together is meant.
    const bool is_stamped = synchronises || calls.size() > 1;
    const std::int64_t begin_ns = now_ns();
    // Ranks of the process that enter before a late one go on as far as they can without it.
    hybrid::HybridCluster::Observer observer{.entering = [&](int rank) {
      const LocalMember& member = member_of(rank);
      entered(batch.group[spec::to_size(rank)], member.stage);
      enter(batch.stages[member.stage], member.group_rank);
      stamp_of(member).entered = is_stamped ? now_ns() : begin_ns;
    }};
    if (is_stamped) {
      observer.left = [&](int rank) { stamp_of(member_of(rank)).left = now_ns(); };
    }
    const auto order = harness::program_order(batch.stages.subspan(batch.first, calls.size()));
    cluster_.perform(calls, order, buffers, observer);
    devices_->synchronize();
    if (is_stamped) return;
    const std::int64_t end_ns = now_ns();
    for (const LocalMember& each : batch.members) stamp_of(each).left = end_ns;
  }

  void run_operator(const gpu::Operator& algorithm,
                    const Batch& batch,
                    harness::StageOutcome& outcome) {
    std::vector<gpu::DeviceBuffers> buffers;
    for (const LocalMember& each : batch.members) buffers.push_back(each.buffers.data);
    const spec::OperatorCall arguments = operator_call(batch.c());
    cluster_.batch_max = batch.c().chunk;
    // The barrier keeps the time that other ranks need to make their inputs out of the operator's
    // time.
    cluster_.collective("barrier",
                        {.ranks = cluster_.ranks()},
                        false,
                        std::vector<gpu::DeviceBuffers>(buffers.size()));
    const std::int64_t begin_ns = now_ns();
    algorithm.run({cluster_, reference::contract_named(batch.c().operation), arguments, buffers});
    devices_->synchronize();
    outcome.stamps.assign(buffers.size(), {.entered = begin_ns, .left = now_ns()});
  }

  hybrid::MpiProcesses processes_;
  hybrid::Placement placement_;
  std::unique_ptr<hybrid::Devices> devices_;
  hybrid::HybridCluster cluster_;
  harness::ImageLayout layout_;
};

/// Prints why the devices cannot be used, and the algorithms. Needs no other process.
void describe() {
  print_description(describe_state(hybrid::device_complaints(), {}), algorithm_infos());
}

/// Throws BadInput with one line that says what is wrong with the command line.
int main_with(int argc, char** argv) {
  choose_queues();
  CLI::App app("Serves rankcheck the ranks on the devices of one of several MPI processes.");
  hybrid::Placement placement{.ranks = 0};
  bool describes = false;
  app.add_flag("--describe", describes, "Prints what can run here, as JSON.");
  app.add_option("--ranks", placement.ranks, "The number of ranks of the world.")
      ->check(CLI::Range(1, 4096));
  app.add_option("--devices-per-process",
                 placement.devices_per_process,
                 "The number of devices of every process but the last.")
      ->check(CLI::Range(1, devices_per_process_max));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    throw harness::BadInput(error.what());
  }
  if (describes) {
    describe();
    return harness::run::status_held;
  }
  if (placement.ranks == 0) throw harness::BadInput("expected --ranks N or --describe");
  HybridSubject subject(placement);
  worker::serve(subject, worker::connect_to_harness());
  return harness::run::status_held;
}

}  // namespace

}  // namespace rankcheck::cases

int main(int argc, char** argv) {
  namespace cases = rankcheck::cases;
  return cases::run_mpi_process("rankcheck-worker-hybrid",
                                [&] { return cases::main_with(argc, argv); });
}
