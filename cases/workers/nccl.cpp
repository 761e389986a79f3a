#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/random.h>
#include <sys/resource.h>

#include "reference/registry.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/device/cluster.hpp"
#include "gpu/device/cuda/presence.hpp"
#include "gpu/device/nccl/devices.hpp"
#include "gpu/device/nccl/placement.hpp"
#include "gpu/device/nccl/runtime.hpp"
#include "gpu/device/nccl/store.hpp"

#include "harness/input.hpp"
#include "harness/preference.hpp"
#include "harness/program.hpp"
#include "harness/worker/serve.hpp"

#include "cases/families/collectives/case.hpp"
#include "cases/families/collectives/inputs.hpp"
#include "cases/workers/arrival.hpp"
#include "cases/workers/description.hpp"
#include "cases/workers/launch.hpp"

/// rankcheck-worker-nccl. It starts a process for each rank of an NCCL world, and the store where
/// the ranks meet. Each of these processes runs this program too. In the mode of one process, it
/// hosts all ranks itself.
namespace rankcheck::cases {

namespace {

using harness::Case;
using harness::Observation;
namespace cuda = gpu::cuda;
namespace nccl = gpu::nccl;
namespace worker = harness::worker;

constexpr const char* secret_variable = "RANKCHECK_STORE_SECRET";
/// Time limit for all processes to start and to meet.
constexpr std::chrono::seconds start_patience{60};
/// A stand-in on the host can have any number of devices.
constexpr int host_devices = 64;

/// The command line. `rank` is -1 if this process is not a single rank.
struct Arguments {
  int ranks = 0;
  int rank = -1;
  int store_port = 0;
  double patience_s = 16;
  bool describes = false;
};

std::string variable(const char* name) {
  return gpu::this_machine().variable(name);
}

/// What this machine offers NCCL. Each complaint is one line that says why ranks cannot run here
/// and what to do about it.
struct Machine {
  std::optional<nccl::Library> library;
  int devices = 0;
  int least_capability = nccl::World().least_capability;
  std::vector<std::string> complaints;
};

void examine(Machine& machine) {
  try {
    machine.library.emplace(gpu::this_machine());
  } catch (const std::exception& error) {
    machine.complaints.emplace_back(error.what());
  }
  if (machine.library && machine.library->on_host()) {
    machine.devices = host_devices;
    return;
  }
  const nccl::CudaPresence cuda = nccl::find_cuda();
  machine.devices = cuda.devices;
  machine.least_capability = cuda.least_capability;
  if (!cuda.why_none.empty()) machine.complaints.push_back(cuda.why_none);
}

nccl::World world_of(const Arguments& arguments, const Machine& machine) {
  nccl::World world{.ranks = arguments.ranks, .local = {}, .meet = {}};
  world.devices = machine.devices;
  world.least_capability = machine.least_capability;
  world.has_nvlink = machine.library->on_host() ||
                     (nccl::lets_peers_reach(variable) &&
                      cuda::all_have_nvlink(std::min(arguments.ranks, machine.devices)));
  world.shares_devices =
      !machine.library->on_host() && nccl::share_devices(arguments.ranks, machine.devices);
  world.patience = std::chrono::duration<double>(arguments.patience_s);
  if (arguments.rank >= 0) {
    world.local = {arguments.rank};
  } else {
    world.local.resize(spec::to_size(arguments.ranks));
    std::iota(world.local.begin(), world.local.end(), 0);
  }
  return world;
}

class NcclSubject final : public worker::Subject {
 public:
  /// Joins the world. `library` must outlive the subject.
  NcclSubject(const nccl::Library& library, nccl::World world)
      : library_(library), world_(std::move(world)), devices_(make_devices()) {
    runtime_.emplace(library_, *devices_, world_);
  }

  [[nodiscard]] worker::Hello hello() const override {
    worker::Hello hello;
    hello.world = world_.ranks;
    hello.ranks = world_.local;
    hello.traits = {.name = "nccl", .ranks_max = world_.ranks};
    for (const nccl::Algorithm& each : nccl::algorithms()) {
      hello.algorithms.push_back(
          {.info = {each.operation, each.name, each.summary}, .environment = each.environment()});
    }
    hello.everyone = true;
    hello.versions = versions();
    return hello;
  }

  [[nodiscard]] std::string why_refused(const Case& c) const override {
    const spec::Contract* contract = reference::find_contract(c.operation);
    const nccl::Algorithm* algorithm = nccl::find_algorithm(c.operation, c.algorithm);
    if (contract == nullptr || algorithm == nullptr) {
      return fmt::format("algorithm: nccl has no {} of {}", c.algorithm, c.operation);
    }
    if (!c.fault.empty()) return "fault: only the simulator plants faults";
    if (c.schedule != Case().schedule) return "schedule: only the simulator supports schedules";
    if (c.chunk > 0) return "chunk: NCCL chooses its own";
    if (c.in_place && contract->in_place == spec::InPlace::none) {
      return "in_place: the operation has no such call";
    }
    const spec::Call call = collective_call(c);
    if (const auto reason = spec::why_invalid(*contract, call)) return *reason;
    const std::vector<int> group = harness::members(c);
    return nccl::Runtime::why_refused(
        library_, world_, {*algorithm, *contract, call, group, c.in_place});
  }

  void run(std::span<const Case> stages,
           const worker::Entered& entered,
           Observation& result) override {
    result.stages.resize(stages.size());
    result.path.assign(stages.size(), {});
    for (std::size_t k = 0; k < stages.size(); ++k) {
      const auto fail = [&](harness::RunStatus status, const char* what) {
        result.status = status;
        result.reason = fmt::format("stage {} ({}): {}", k, stages[k].operation, what);
      };
      try {
        run_stage(stages, k, entered, result);
      } catch (const nccl::Hang& hang) {
        return fail(harness::RunStatus::hung, hang.what());
      } catch (const nccl::Error& error) {
        // After such an error the communicator is unusable, so a fresh process must take over.
        if (!error.is_refusal()) end(error.what());
        return fail(harness::RunStatus::failed, error.what());
      } catch (const gpu::DeviceError& error) {
        end(error.what());
      } catch (const std::exception& error) {
        return fail(harness::RunStatus::failed, error.what());
      }
    }
  }

 private:
  [[noreturn]] static void end(const char* what) {
    fmt::print(stderr, "{}\n", what);
    std::fflush(stderr);
    std::_Exit(1);
  }

  [[nodiscard]] std::unique_ptr<nccl::Devices> make_devices() const {
    if (library_.on_host()) return nccl::make_host_devices(static_cast<int>(world_.local.size()));
    std::vector<int> physical;
    for (const int rank : world_.local) {
      physical.push_back(nccl::device_of(rank, world_.devices));
    }
    return nccl::make_cuda_devices(physical);
  }

  [[nodiscard]] nlohmann::json versions() const {
    nlohmann::json all{{"nccl", library_.version_text()},
                       {"nccl_library", library_.loaded().text()}};
    if (!library_.missing().empty()) all["nccl_lacks"] = library_.missing();
    if (library_.on_host()) {
      all["memory"] = "host: a stand-in, not NCCL";
      return all;
    }
    const nccl::CudaVersions cuda = nccl::cuda_versions();
    all["cuda_driver"] = cuda.driver;
    all["cuda_runtime"] = cuda.runtime;
    all["devices"] = cuda.devices;
    if (world_.shares_devices)
      all["ranks"] = "share devices; NCCL treats each rank as a host of its own";
    return all;
  }

  /// The hosted members of one stage, in group order, and the places of their images.
  struct Stage {
    std::vector<nccl::Member> members;
    std::vector<int> slots;
    std::vector<std::byte*> images;
    std::vector<std::array<std::byte, 16>> scalars;
  };

  void run_stage(std::span<const Case> stages,
                 std::size_t k,
                 const worker::Entered& entered,
                 Observation& result) {
    const Case& c = stages[k];
    const std::vector<int> group = harness::members(c);
    const spec::Contract& contract = reference::contract_named(c.operation);
    const spec::Call call = collective_call(c);
    const nccl::Request request{
        *nccl::find_algorithm(c.operation, c.algorithm), contract, call, group, c.in_place};
    Stage stage;
    prepare_images(stages, k, stage, result);
    harness::StageOutcome& outcome = result.stages[k];
    for (const nccl::Member& each : stage.members) {
      entered(group[spec::to_size(each.group_rank)], k);
    }
    runtime_->prepare(request);
    if (contract.synchronises && stage.members.size() == 1) {
      arrive_late(c, group, stage.members.front().group_rank);
    }
    const std::int64_t begin = now_ns();
    runtime_->perform(request, stage.members);
    outcome.stamps.assign(stage.members.size(), {.entered = begin, .left = now_ns()});
    result.path[k] = runtime_->conclude(request, stage.members);
    for (std::size_t i = 0; i < stage.members.size(); ++i) {
      harness::Image& image = outcome.images[i];
      devices_->read(
          stage.slots[i], stage.images[i], image.data(), static_cast<std::int64_t>(image.size()));
    }
  }

  /// Makes the image of every hosted member and copies it to the member's device.
  void prepare_images(std::span<const Case> stages,
                      std::size_t k,
                      Stage& stage,
                      Observation& result) {
    const Case& c = stages[k];
    const std::vector<int> group = harness::members(c);
    devices_->begin();
    for (std::size_t g = 0; g < group.size(); ++g) {
      const int slot = runtime_->slot_of(group[g]);
      if (slot < 0) continue;
      stage.slots.push_back(slot);
      stage.members.push_back({.group_rank = static_cast<int>(g), .extents = {}});
    }
    harness::StageOutcome& outcome = result.stages[k];
    outcome.images.resize(stage.members.size());
    stage.scalars.resize(stage.members.size());
    for (std::size_t i = 0; i < stage.members.size(); ++i) {
      nccl::Member& member = stage.members[i];
      const int world_rank = group[spec::to_size(member.group_rank)];
      std::vector<const std::byte*> left;
      for (std::size_t s = 0; s < k; ++s)
        left.push_back(image_after(stages[s], s, world_rank, result));
      harness::Image& image = outcome.images[i];
      prepare_stage(reference::contract_named,
                    stages,
                    k,
                    member.group_rank,
                    harness::ResultPlace::own_block,
                    left,
                    layout_,
                    image);
      const auto bytes = static_cast<std::int64_t>(image.size());
      std::byte* const there = devices_->allocate(stage.slots[i], bytes);
      devices_->write(stage.slots[i], image.data(), there, bytes);
      stage.images.push_back(there);
      member.extents = layout_.extents;
      member.send = layout_.send < 0 ? nullptr : there + layout_.send;
      member.recv = layout_.recv < 0 ? nullptr : there + layout_.recv;
      if (!has_scalar(c)) continue;
      fill_scalar(c, world_rank, stage.scalars[i].data());
      member.scalar = stage.scalars[i].data();
    }
  }

  /// Returns a hosted world rank's image after an earlier stage. Null if the rank was not a member.
  [[nodiscard]] const std::byte* image_after(const Case& c,
                                             std::size_t stage,
                                             int world_rank,
                                             const Observation& result) const {
    std::size_t hosted = 0;
    for (const int each : harness::members(c)) {
      if (runtime_->slot_of(each) < 0) continue;
      if (each == world_rank) return result.stages[stage].images[hosted].data();
      ++hosted;
    }
    return nullptr;
  }

  const nccl::Library& library_;
  nccl::World world_;
  std::unique_ptr<nccl::Devices> devices_;
  std::optional<nccl::Runtime> runtime_;
  harness::ImageLayout layout_;
};

/// Returns why shared memory is too small for `ranks` ranks on `devices` devices. Empty if it
/// suffices.
std::string why_short_of_shared_memory(const Machine& machine, int ranks, int devices) {
  const nccl::Library& library = *machine.library;
  // NCCL before 2.28.0 needs less shared memory.
  const bool needs_pool = !library.on_host() && library.version() >= 22800;
  if (!needs_pool || !nccl::share_devices(ranks, devices)) return {};
  return nccl::why_too_small(library.shared_memory(), ranks);
}

/// Prints what the worker has: complaints, notes, a lack of shared memory, and algorithms.
void describe(const Machine& machine) {
  std::string library;
  if (machine.library) {
    library = fmt::format(
        "NCCL {}: {}", machine.library->version_text(), machine.library->loaded().text());
  }
  nlohmann::ordered_json out = describe_state(machine.complaints, library);
  if (machine.library) {
    // Runs of fewer ranks, or on several devices, may still fit.
    constexpr int usual_ranks = 4;
    const std::string why = why_short_of_shared_memory(machine, usual_ranks, 1);
    if (!why.empty()) out["notes"].push_back(why);
    out["shared_memory"] = why;
  }
  out["algorithms"] = nlohmann::ordered_json::array();
  for (const nccl::Algorithm& each : nccl::algorithms()) {
    out["algorithms"].push_back(
        {{"operation", each.operation}, {"name", each.name}, {"summary", each.summary}});
  }
  fmt::print("{}\n", out.dump());
}

/// Directs NCCL's log of this process to a file and returns its path. Returns an empty path if NCCL
/// writes no log or the user has named a file. A forced algorithm needs the log, so the user's file
/// is then replaced.
std::string redirect_log(const Arguments& arguments) {
  const bool is_forced = variable("NCCL_DEBUG_SUBSYS") == "TUNING";
  if (variable("NCCL_DEBUG").empty()) return {};
  if (!variable("NCCL_DEBUG_FILE").empty() && !is_forced) return {};
  const std::string folder = variable("TMPDIR").empty() ? "/tmp" : variable("TMPDIR");
  const std::string path = fmt::format("{}/nccl-{}.log", folder, arguments.rank);
  ::setenv("NCCL_DEBUG_FILE", path.c_str(), 1);
  return path;
}

/// Sets what NCCL needs in this process, whatever the user has set for other programs. Must be
/// called before NCCL is first used.
void prepare_process() {
  // NCCL calls must return only when they are done, and a rank without a part may have no buffer.
  ::setenv("NCCL_COMM_BLOCKING", "1", 1);
  ::setenv("NCCL_CHECK_POINTERS", "0", 1);
  // Each communicator opens tens of sockets.
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

/// Serves the ranks of this process.
int serve_ranks(const Arguments& arguments, const Machine& machine) {
  prepare_process();
  nccl::World world = world_of(arguments, machine);
  world.log_path = redirect_log(arguments);
  std::optional<nccl::StoreClient> store;
  if (arguments.rank >= 0) {
    store.emplace(nccl::StoreAddress{.port = arguments.store_port},
                  variable(secret_variable),
                  start_patience);
  }
  world.meet = [&](const std::string& key, const std::string* value) {
    if (!store && value != nullptr) return *value;
    if (value == nullptr) return store->wait(key, start_patience);
    store->set(key, *value);
    return *value;
  };
  NcclSubject subject(*machine.library, world);
  // No rank serves before all have joined. Otherwise a late start would count as a fault of the
  // first run.
  if (store) store->barrier("start", arguments.rank, arguments.ranks, start_patience);
  worker::serve(subject, worker::connect_to_harness());
  return 0;
}

std::string random_secret() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw std::runtime_error("the system has no random numbers");
  }
  std::string text;
  for (const unsigned char each : bytes) text += fmt::format("{:02x}", each);
  return text;
}

/// Starts the ranks' processes and the store where they meet.
int start_ranks(const Arguments& arguments, const Machine& machine) {
  const std::string secret = random_secret();
  const nccl::StoreServer store({}, secret);
  const bool shares_devices = world_of(arguments, machine).shares_devices;
  if (const std::string why = why_short_of_shared_memory(machine, arguments.ranks, machine.devices);
      !why.empty()) {
    throw std::runtime_error(why);
  }
  std::vector<worker::Command> commands;
  for (int rank = 0; rank < arguments.ranks; ++rank) {
    worker::Command command{.arguments = {harness::own_program(),
                                          "--ranks",
                                          std::to_string(arguments.ranks),
                                          "--rank",
                                          std::to_string(rank),
                                          "--store-port",
                                          std::to_string(store.port()),
                                          "--patience",
                                          fmt::format("{}", arguments.patience_s)},
                            .environment = {{secret_variable, secret}}};
    if (shares_devices) command.environment.merge(nccl::environment_of_sharing(rank, variable));
    // NCCL's RAS service would use the same port for all worlds of this machine.
    if (variable("NCCL_RAS_ENABLE").empty()) command.environment["NCCL_RAS_ENABLE"] = "0";
    commands.push_back(std::move(command));
  }
  return run_processes(commands);
}

/// Defines the options of the command line.
void add_options(CLI::App& app, Arguments& arguments) {
  app.add_flag("--describe", arguments.describes, "Prints what can run here, as JSON.");
  app.add_option("--ranks", arguments.ranks, "The number of ranks of the world.")
      ->check(CLI::Range(1, nccl::store_limits::ranks));
  auto* const port =
      app.add_option(
             "--store-port", arguments.store_port, "The port of the store at which the ranks meet.")
          ->check(CLI::Range(1, 65535));
  app.add_option("--rank",
                 arguments.rank,
                 "Runs as this rank. Without this option, starts one process for each rank.")
      ->check(CLI::Range(0, nccl::store_limits::ranks - 1))
      ->needs(port);
  app.add_option("--patience", arguments.patience_s, "The seconds that a call may take.");
}

/// Parses the command line. Throws BadInput with one line that says what is wrong. Ends the process
/// if the user asks for help.
void parse(int argc, char** argv, Arguments& arguments) {
  CLI::App app("Serves rankcheck the ranks of an NCCL world.");
  add_options(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    std::exit(0);
  } catch (const CLI::ParseError& error) {
    throw harness::BadInput(error.what());
  }
  if (arguments.describes) return;
  if (arguments.ranks < 1) throw harness::BadInput("expected --ranks N or --describe");
  constexpr double patience_max_s = 1e9;
  if (!(arguments.patience_s > 0 && arguments.patience_s <= patience_max_s)) {
    throw harness::BadInput(fmt::format("--patience: expected seconds above 0, at most {}, got {}",
                                        patience_max_s,
                                        arguments.patience_s));
  }
  if (arguments.rank >= arguments.ranks) {
    throw harness::BadInput(fmt::format(
        "--rank: expected less than the {} of --ranks, got {}", arguments.ranks, arguments.rank));
  }
}

int main_with(int argc, char** argv) {
  Arguments arguments;
  parse(argc, argv, arguments);
  Machine machine;
  examine(machine);
  if (arguments.describes) {
    describe(machine);
    return 0;
  }
  if (!machine.complaints.empty()) throw std::runtime_error(machine.complaints.front());
  worker::end_with_parent();
  const bool is_one_process = variable(nccl::one_process_variable) == "1";
  if (arguments.rank < 0 && !is_one_process) return start_ranks(arguments, machine);
  return serve_ranks(arguments, machine);
}

}  // namespace

}  // namespace rankcheck::cases

int main(int argc, char** argv) {
  try {
    return rankcheck::cases::main_with(argc, argv);
  } catch (const rankcheck::harness::BadInput& bad) {
    fmt::print(stderr, "rankcheck-worker-nccl: {}\n", bad.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "rankcheck-worker-nccl: {}\n", error.what());
    return 1;
  }
}
