#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <list>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "reference/registry.hpp"
#include "reference/spec/value_rules.hpp"

#include "gpu/device/mpi/cluster.hpp"
#include "gpu/device/mpi/runtime.hpp"
#include "gpu/device/wrong_path.hpp"
#include "gpu/ptycho/registry.hpp"

#include "harness/backend/stage_images.hpp"
#include "harness/backend/stages.hpp"
#include "harness/base/path.hpp"
#include "harness/case/hosts.hpp"
#include "harness/case/input.hpp"
#include "harness/run/exit_status.hpp"
#include "harness/worker/serve.hpp"

#include "cases/families/collectives/case.hpp"
#include "cases/families/collectives/inputs.hpp"
#include "cases/families/ptycho/case.hpp"
#include "cases/workers/arrival.hpp"
#include "cases/workers/mpi_process.hpp"
#include "cases/workers/repeated_memory.hpp"

/// rankcheck-worker-mpi: one process of an MPI world. It serves its own rank to the harness.
namespace rankcheck::cases {

namespace {

using harness::Case;
using harness::Observation;
using harness::StageOutcome;
namespace mpi = gpu::mpi;
namespace worker = harness::worker;

/// The largest image that is overwritten after a call. The copy of a larger one may not fit.
constexpr std::size_t overwritten_max = std::size_t{64} << 20;

class MpiSubject final : public worker::Subject {
 public:
  [[nodiscard]] worker::Hello hello() const override {
    worker::Hello hello;
    hello.world = runtime_.size();
    hello.ranks = {runtime_.rank()};
    hello.traits = {.name = "mpi",
                    .nan_rule = spec::NanRule::unspecified,
                    .result_place = harness::ResultPlace::start,
                    .ranks_max = runtime_.size(),
                    .has_delays = true,
                    .has_overlaps = true,
                    .frees_groups = true,
                    .has_strides = true};
    for (const mpi::Algorithm& each : runtime_.algorithms()) {
      hello.algorithms.push_back(
          {.info = {.operation = std::string(each.operation->name),
                    .name = each.name,
                    .summary = each.summary,
                    .needs_hosts = each.component != nullptr && each.component->needs_hosts,
                    .variables = variables_of(each)},
           .environment = environment_of(each)});
    }
    for (const gpu::OperatorImplementation& each : gpu::operators()) {
      hello.algorithms.push_back({.info = {std::string(each.operation),
                                           std::string(each.algorithm.name),
                                           std::string(each.algorithm.summary)},
                                  .environment = {}});
    }
    hello.versions = {{"mpi", mpi::Runtime::version()}};
    return hello;
  }

  [[nodiscard]] std::string why_refused(const Case& c) const override {
    const spec::Contract* contract = reference::find_contract(c.operation);
    const mpi::Algorithm* algorithm = runtime_.find(c.operation, c.algorithm);
    const gpu::Operator* op = find_operator(c);
    if (contract == nullptr || (algorithm == nullptr && op == nullptr)) {
      return fmt::format("algorithm: mpi has no {} of {}", c.algorithm, c.operation);
    }
    if (!c.fault.empty()) return "fault: only the simulator plants faults";
    if (c.schedule != Case().schedule) return "schedule: only the simulator supports schedules";
    if (c.in_place && contract->in_place == spec::InPlace::none) {
      return "in_place: the operation has no such call";
    }
    if (c.overlaps && (algorithm == nullptr || !algorithm->nonblocking)) {
      return "overlaps: the call ends before the next one begins";
    }
    if (op != nullptr) {
      if (c.late >= 0) return "late: operators begin on all ranks at once";
      const spec::OperatorCall call = operator_call(c);
      if (const auto reason = spec::why_invalid(*contract, call)) return *reason;
      return std::string(gpu::why_refused(*op, call, c.algorithm.empty() ? 0 : c.chunk));
    }
    // An example is Open MPI 4.1. Its 8-bit sums saturate in the part of a buffer that AVX handles
    // and wrap in the rest.
    if (may_overflow(c)) return "input: MPI leaves integer overflow undefined";
    if (spec::collective(*contract).reduces && is_strided(collective(c)))
      return "recv_stride, send_stride: MPI's own reductions take only dense elements";
    const bool adds_on_arrival = spec::collective(*contract).reduces &&
                                 algorithm->component != nullptr &&
                                 algorithm->component->adds_on_arrival;
    if (adds_on_arrival && c.property == "is_deterministic")
      return "property: the algorithm adds what arrives first, so that sums differ between runs";
    const spec::Call call = collective_call(c);
    if (const auto reason = spec::why_invalid(*contract, call)) return *reason;
    const std::vector<int> group = harness::members(c);
    return runtime_.why_refused({.algorithm = *algorithm,
                                 .contract = *contract,
                                 .call = call,
                                 .group = group,
                                 .in_place = c.in_place,
                                 .stride = stride_of(c),
                                 .hosts = harness::hosts_of_members(c),
                                 .chunk = c.chunk});
  }

  void run(std::span<const Case> stages,
           const worker::Entered& entered,
           Observation& result) override {
    used_.clear();
    repeated_.release();
    result.stages.resize(stages.size());
    result.path.assign(stages.size(), {});
    try {
      hold_communicators(stages);
    } catch (const std::exception& error) {
      result.status = harness::RunStatus::failed;
      result.reason = error.what();
      return;
    }
    for (next_ = 0; next_ < stages.size() && !ends_run(result);) run_next(stages, entered, result);
    if (ends_run(result)) return;
    require_memory_left_alone(result);
    runtime_.release();
  }

 private:
  /// Whether a stage has failed, so that the others are not run.
  [[nodiscard]] static bool ends_run(const Observation& result) {
    return result.status == harness::RunStatus::failed;
  }

  /// Runs the next stage. If it overlaps others, runs them meanwhile.
  void run_next(std::span<const Case> stages, const worker::Entered& entered, Observation& result) {
    const std::size_t k = next_++;
    const std::function<void()> others = [&] {
      if (next_ < stages.size() && !ends_run(result)) run_next(stages, entered, result);
    };
    try {
      // What is under way is waited for behind a call of this process.
      if (!run_stage(stages, k, entered, result, others)) others();
    } catch (const std::exception&) {
      // A call that was made meanwhile has failed before.
      if (ends_run(result)) return;
      note_failure(stages, k, result);
      // A wrong path was noticed behind the call, which the others have made, too.
      const bool is_path = result.symptom == harness::Symptom::path;
      if (is_path && stages[k].frees) runtime_.forget(harness::members(stages[k]));
    }
  }

  /// Notes the exception that is being handled.
  static void note_failure(std::span<const Case> stages, std::size_t k, Observation& result) {
    try {
      throw;
    } catch (const mpi::Unusable& error) {
      // Members of other groups may wait for this rank in a later stage.
      result.status = harness::RunStatus::refused;
      result.reason = error.what();
    } catch (const std::exception& error) {
      const bool is_path = dynamic_cast<const gpu::WrongPath*>(&error) != nullptr;
      result.symptom = is_path ? harness::Symptom::path : harness::Symptom::none;
      result.status = harness::RunStatus::failed;
      result.reason = fmt::format("stage {} ({}): {}", k, stages[k].operation, error.what());
    }
  }

  [[nodiscard]] static std::map<std::string, std::string> environment_of(
      const mpi::Algorithm& algorithm) {
    if (algorithm.component != nullptr) return algorithm.component->environment();
    if (algorithm.transport != nullptr) return algorithm.transport->environment;
    return algorithm.forcing ? algorithm.forcing->environment()
                             : std::map<std::string, std::string>();
  }

  /// The environment in which any program of the library uses the algorithm. Empty for algorithms
  /// that are several calls, or a second function.
  [[nodiscard]] static std::map<std::string, std::string> variables_of(
      const mpi::Algorithm& algorithm) {
    std::map<std::string, std::string> all = environment_of(algorithm);
    if (algorithm.composition != nullptr) return {};
    if (algorithm.forcing) {
      const std::string name = "OMPI_MCA_" + algorithm.forcing->variable();
      all["OMPI_MCA_coll_tuned_use_dynamic_rules"] = "1";
      all[name] = std::to_string(algorithm.forcing->value);
      all[name + "_segmentsize"] = std::to_string(mpi::default_segment_bytes);
    }
    if (!algorithm.selected) return all;
    const std::vector<mpi::Setting>& settings = algorithm.selected->settings;
    for (const mpi::Setting& each : settings) {
      const bool is_mpich = each.variable.starts_with("MPIR_");
      std::string& value = all[(is_mpich ? "" : "OMPI_MCA_") + each.variable];
      value = std::to_string(each.value);
      // MPICH reads words where it has any.
      if (is_mpich && &each == &settings.front()) value = algorithm.selected->word;
      if (each.variable == "MPIR_CVAR_COLLECTIVE_FALLBACK") value = "error";
    }
    return all;
  }

  [[nodiscard]] static std::int64_t stride_of(const Case& c) {
    return std::max(collective(c).send_stride, collective(c).recv_stride);
  }

  /// Whether stage k makes a call again, or is made again, with other data.
  [[nodiscard]] static bool is_repeated_at(std::span<const Case> stages, std::size_t k) {
    return goes_on_after(stages, k) || (k > 0 && goes_on_after(stages, k - 1));
  }
  /// Whether the stage after stage k makes the same call with other data.
  [[nodiscard]] static bool goes_on_after(std::span<const Case> stages, std::size_t k) {
    const bool is_last = k + 1 == stages.size();
    return !is_last && !stages[k].overlaps && is_repeated(stages[k], stages[k + 1]);
  }

  /// If stages run at the same time or repeat a call, makes the communicators of all stages before
  /// the first call.
  void hold_communicators(std::span<const Case> stages) {
    runtime_.release();
    const bool at_once = harness::has_stages_at_once(stages);
    // A communicator must not be freed while a call is under way.
    if (std::ranges::any_of(stages, &Case::overlaps)) return runtime_.hold({}, false);
    if (!at_once && !goes_on_after(stages, 0)) return;
    if (find_operator(stages.front()) != nullptr) return;
    std::list<Arguments> arguments;
    std::vector<mpi::Request> requests;
    for (const Case& c : stages) {
      if (harness::place_in_group(c, runtime_.rank()) < 0) continue;
      const Arguments& made = arguments.emplace_back(
          Arguments{.call = collective_call(c), .group = harness::members(c)});
      requests.push_back(request_of(c, made));
    }
    const bool whole_world = harness::group_size(stages.back()) == stages.back().ranks;
    runtime_.hold(requests, at_once && whole_world);
  }

  /// What a request refers to.
  struct Arguments {
    spec::Call call;
    std::vector<int> group;
  };

  [[nodiscard]] mpi::Request request_of(const Case& c, const Arguments& arguments) const {
    return {.algorithm = *runtime_.find(c.operation, c.algorithm),
            .contract = reference::contract_named(c.operation),
            .call = arguments.call,
            .group = arguments.group,
            .in_place = c.in_place,
            .stride = stride_of(c),
            .hosts = harness::hosts_of_members(c),
            .chunk = c.chunk,
            .on_second = c.data_seed % 2 == 1};
  }

  /// Makes the call of stage k, and `others` meanwhile if it overlaps them. Returns whether this
  /// process is a member.
  bool run_stage(std::span<const Case> stages,
                 std::size_t k,
                 const worker::Entered& entered,
                 Observation& result,
                 const std::function<void()>& others) {
    const Case& c = stages[k];
    int group_rank = -1;
    prepare_members({.contract_of = reference::contract_named,
                     .result_place = harness::ResultPlace::start,
                     .hosts = [&](int world_rank) { return world_rank == runtime_.rank(); }},
                    stages,
                    k,
                    layout_,
                    result,
                    [&](const harness::HostedMember& member) { group_rank = member.group_rank; });
    if (group_rank < 0) return false;
    const std::vector<int> group = harness::members(c);
    StageOutcome& outcome = result.stages[k];
    const spec::Contract& contract = reference::contract_named(c.operation);
    if (const gpu::Operator* op = find_operator(c)) {
      entered(runtime_.rank(), k);
      cluster_.begin(group, group_rank);
      // The barrier keeps the time that other ranks need to make their inputs out of the operator's
      // time.
      const gpu::DeviceBuffers none;
      cluster_.collective("barrier", {.ranks = cluster_.ranks()}, false, {&none, 1});
      outcome.stamps[0].entered = now_ns();
      run_operator(*op, contract, c, outcome.images[0]);
      outcome.stamps[0].left = now_ns();
      result.path[k] = op->name;
      return true;
    }
    entered(runtime_.rank(), k);
    result.path[k] = run_call(stages, k, group, outcome, others);
    if (c.frees) runtime_.forget(group);
    return true;
  }

  /// Makes the call of a stage on the image in `outcome`. Returns the algorithm that ran.
  std::string run_call(std::span<const Case> stages,
                       std::size_t k,
                       const std::vector<int>& group,
                       StageOutcome& outcome,
                       const std::function<void()>& others) {
    const Case& c = stages[k];
    harness::Image& image = outcome.images[0];
    const int group_rank = harness::place_in_group(c, runtime_.rank());
    std::array<std::byte, 16> scalar{};
    if (has_scalar(c)) fill_scalar(c, runtime_.rank(), scalar.data());
    const Arguments arguments{.call = collective_call(c), .group = group};
    mpi::Request request = request_of(c, arguments);
    request.waits_for_oldest = c.data_seed % 2 == 0;
    if (c.overlaps) request.meanwhile = &others;
    // Other stages have other layouts.
    const harness::ImageLayout layout = layout_;
    const bool moves = is_repeated_at(stages, k) && image.size() <= overwritten_max;
    std::byte* const memory = moves ? repeated_.map(image) : image.data();
    const auto at = [&](std::int64_t offset) { return offset < 0 ? nullptr : memory + offset; };
    runtime_.prepare(request);
    const auto enter = [&] {
      if (request.contract.synchronises) arrive_late(c, group, group_rank);
      wait_if_late(c, group_rank);
      outcome.stamps[0].entered = now_ns();
    };
    runtime_.perform(request,
                     group_rank,
                     layout.extents,
                     {.send = at(layout.send), .recv = at(layout.recv), .scalar = scalar.data()},
                     enter);
    outcome.stamps[0].left = now_ns();
    if (moves) {
      repeated_.leave(image);
    } else {
      overwrite(k, image);
    }
    try {
      const bool goes_on = k + 1 < stages.size() && harness::is_history(stages);
      return runtime_.conclude(request, goes_on || goes_on_after(stages, k));
    } catch (const gpu::UnseenPath&) {
      return harness::path_of(request.algorithm.name, harness::unseen_way);
    }
  }

  /// After a call, its buffers belong to the caller, who may overwrite them although other ranks
  /// are still in the call. Overwrites the memory of the call, and lets `image` be a copy of it.
  void overwrite(std::size_t stage, harness::Image& image) {
    if (image.size() > overwritten_max) return;
    harness::Image& used = used_.emplace_back(stage, std::move(image)).second;
    image = used;
    for (std::byte& each : used) each = ~each;
  }

  /// The library must not write into this memory either when the call has ended.
  void require_memory_left_alone(Observation& result) const {
    for (const auto& [stage, used] : used_) {
      const harness::Image& image = result.stages[stage].images[0];
      const auto found =
          std::ranges::mismatch(used, image, std::ranges::equal_to(), std::bit_not());
      if (found.in1 == used.end()) continue;
      result.status = harness::RunStatus::failed;
      result.symptom = harness::Symptom::outside;
      result.reason = fmt::format(
          "stage {}: rank {}: the memory of the call was written at byte {} after its end",
          stage,
          runtime_.rank(),
          found.in1 - used.begin());
      return;
    }
  }

  /// Returns null if the case's operation is not an operator, or has no such algorithm.
  [[nodiscard]] static const gpu::Operator* find_operator(const Case& c) {
    for (const gpu::OperatorImplementation& each : gpu::operators()) {
      if (each.operation != c.operation) continue;
      if (c.algorithm.empty() || each.algorithm.name == c.algorithm) return &each.algorithm;
    }
    return nullptr;
  }

  void run_operator(const gpu::Operator& algorithm,
                    const spec::Contract& contract,
                    const Case& c,
                    harness::Image& image) {
    const gpu::DeviceBuffers buffers{.send = image.data() + layout_.send,
                                     .recv = image.data() + layout_.recv};
    const spec::OperatorCall call = operator_call(c);
    cluster_.batch_max = c.chunk;
    algorithm.run({cluster_, contract, call, {&buffers, 1}});
    cluster_.end();
  }

  mpi::Runtime runtime_;
  mpi::MpiCluster cluster_{runtime_, reference::contract_named};
  /// The next stage of the run.
  std::size_t next_ = 0;
  harness::ImageLayout layout_;
  /// The memory of the calls of this run, with their stages.
  std::list<std::pair<std::size_t, harness::Image>> used_;
  RepeatedMemory repeated_;
};

/// Throws if the harness asked for several ranks, and the launcher started as many worlds of one
/// rank. To the launcher of another MPI library, the processes are ordinary programs.
void check_launcher(int ranks) {
  const char* const wanted = std::getenv("RANKCHECK_MPI_RANKS");
  if (ranks > 1 || wanted == nullptr || std::string_view(wanted) == "1") return;
  throw std::runtime_error(fmt::format(
      "the launcher is that of another MPI library: it started {} worlds of one rank each; set "
      "RANKCHECK_MPIEXEC",
      wanted));
}

/// Answers the harness until the harness ends the session.
int serve_harness() {
  MpiSubject subject;
  check_launcher(subject.hello().world);
  worker::serve(subject, worker::connect_to_harness());
  return harness::run::status_held;
}

}  // namespace

}  // namespace rankcheck::cases

int main() {
  return rankcheck::cases::run_mpi_process("rankcheck-worker-mpi", rankcheck::cases::serve_harness);
}
