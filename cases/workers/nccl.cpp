#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/resource.h>

#include "reference/spec/to_size.hpp"

#include "gpu/device/cuda/presence.hpp"
#include "gpu/device/nccl/devices.hpp"
#include "gpu/device/nccl/meeting.hpp"
#include "gpu/device/nccl/placement.hpp"
#include "gpu/device/nccl/runtime.hpp"

#include "harness/base/program.hpp"
#include "harness/worker/process.hpp"
#include "harness/worker/serve.hpp"
#include "harness/worker/work_folder.hpp"

#include "cases/workers/description.hpp"
#include "cases/workers/nccl_subject.hpp"

/// rankcheck-worker-nccl. It starts a process for each rank of an NCCL world, and makes the folder
/// where the ranks meet. Each of these processes runs this program too. In the mode of one process,
/// it hosts all ranks itself.
namespace rankcheck::cases {

namespace {

namespace cuda = gpu::cuda;
namespace nccl = gpu::nccl;
namespace worker = harness::worker;

constexpr int ranks_max = 4096;
/// Time limit for all processes to start and to meet.
constexpr std::chrono::seconds start_patience{60};
/// A stand-in on the host can have any number of devices.
constexpr int host_devices = 64;

/// The command line. `rank` is -1 if this process is not a single rank.
struct Arguments {
  int ranks = 0;
  int rank = -1;
  /// The folder where the ranks meet.
  std::string meeting = {};
  double patience_s = 16;
  bool describes = false;
  /// The hosts of the first ranks; see nccl::host_of().
  std::vector<int> hosts = {};
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
  world.reaches_peers = machine.library->on_host() ||
                        (nccl::lets_peers_reach(variable) &&
                         nccl::all_reach_peers(std::min(arguments.ranks, machine.devices)));
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
  print_description(std::move(out), nccl::algorithms());
}

/// Directs NCCL's log of this process to a file and returns its path. Returns an empty path if NCCL
/// writes no log or the user has named a file. A forced algorithm needs the log, so the user's file
/// is then replaced.
std::string redirect_log(const Arguments& arguments) {
  const bool is_forced = variable("NCCL_DEBUG_SUBSYS") == "TUNING";
  if (variable("NCCL_DEBUG").empty()) return {};
  if (!variable("NCCL_DEBUG_FILE").empty() && !is_forced) return {};
  const std::string folder = variable("TMPDIR").empty() ? "/tmp" : variable("TMPDIR");
  std::string path = fmt::format("{}/nccl-{}.log", folder, arguments.rank);
  ::setenv("NCCL_DEBUG_FILE", path.c_str(), 1);
  return path;
}

/// Sets what NCCL needs in this process, whatever the user has set for other programs. Must be
/// called before NCCL is first used.
void prepare_process(const nccl::Library& library) {
  // NCCL calls must return only when they are done, and a rank without a part may have no buffer.
  ::setenv("NCCL_COMM_BLOCKING", "1", 1);
  ::setenv("NCCL_CHECK_POINTERS", "0", 1);
  // Otherwise, NCCL 2.28 gives a window even if it is not symmetric. Newer versions give none. The
  // algorithm `registered` has no window, and NCCL registers its memory only then.
  if (variable(nccl::register_variable) == "1") {
    ::setenv("NCCL_LOCAL_REGISTER", "1", 1);
  } else if (library.version() < 22900) {
    ::setenv("NCCL_LOCAL_REGISTER", "0", 1);
  }
  // Each communicator opens tens of sockets.
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

/// Serves the ranks of this process.
int serve_ranks(const Arguments& arguments, const Machine& machine) {
  prepare_process(*machine.library);
  nccl::World world = world_of(arguments, machine);
  world.log_path = redirect_log(arguments);
  std::optional<nccl::Meeting> meeting;
  if (arguments.rank >= 0) meeting.emplace(arguments.meeting, start_patience);
  world.meet = [&](const std::string& key, const std::string* value) {
    if (value == nullptr) return meeting->await(key);
    if (meeting) meeting->publish(key, *value);
    return *value;
  };
  const auto subject = join_nccl(*machine.library, world);
  // No rank serves before all have joined. Otherwise a late start would count as a fault of the
  // first run.
  if (meeting) meeting->gather(arguments.rank, arguments.ranks);
  worker::serve(*subject, worker::connect_to_harness());
  return 0;
}

/// Starts a process for each command and waits until all have ended. If one fails, prints its last
/// words to the error output and ends the others. Returns an exit status: 0 if all succeeded.
/// Throws std::runtime_error if a process cannot be started.
int run_processes(std::span<const worker::Command> commands) {
  std::vector<std::unique_ptr<worker::Process>> running;
  for (const auto& each : commands) {
    running.push_back(std::make_unique<worker::Process>(each, worker::StandardIo{}));
  }
  while (!running.empty()) {
    std::vector<pollfd> entries;
    // A process that ends closes its error output.
    bool has_closed = false;
    for (const auto& each : running) {
      entries.push_back({.fd = each->error_descriptor(), .events = POLLIN, .revents = 0});
      has_closed = has_closed || each->error_descriptor() < 0;
    }
    constexpr int tick_ms = 5;
    constexpr int patience_ms = 500;
    ::poll(entries.data(), entries.size(), has_closed ? tick_ms : patience_ms);
    for (auto& each : running) {
      each->drain();
      if (!each->ended()) continue;
      each->drain();
      if (!each->succeeded()) {
        const std::string words = each->last_words();
        fmt::print(stderr, "{}\n", words.empty() ? "a process " + each->fate() : words);
        return each->status().value_or(1);
      }
      each.reset();
    }
    std::erase(running, nullptr);
  }
  return 0;
}

/// Starts the ranks' processes.
int start_ranks(const Arguments& arguments, const Machine& machine) {
  const bool shares_devices = world_of(arguments, machine).shares_devices;
  if (const std::string why = why_short_of_shared_memory(machine, arguments.ranks, machine.devices);
      !why.empty()) {
    throw std::runtime_error(why);
  }
  const worker::WorkFolder meeting;
  std::vector<worker::Command> commands;
  for (int rank = 0; rank < arguments.ranks; ++rank) {
    worker::Command command{.arguments = {harness::own_program(),
                                          "--ranks",
                                          std::to_string(arguments.ranks),
                                          "--rank",
                                          std::to_string(rank),
                                          "--meeting",
                                          meeting.path(),
                                          "--patience",
                                          fmt::format("{}", arguments.patience_s)},
                            .environment = {}};
    if (const auto host = nccl::host_of(rank, arguments.hosts, shares_devices)) {
      command.environment.merge(nccl::environment_of_host(*host, variable));
    }
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
      ->check(CLI::Range(1, ranks_max));
  auto* const meeting =
      app.add_option("--meeting", arguments.meeting, "The folder where the ranks meet.")
          ->check(CLI::ExistingDirectory);
  app.add_option("--rank",
                 arguments.rank,
                 "Runs as this rank. Without this option, starts one process for each rank.")
      ->check(CLI::Range(0, ranks_max - 1))
      ->needs(meeting);
  app.add_option("--hosts", arguments.hosts, "The host of each rank, as NCCL shall see it: 0,0,1.")
      ->delimiter(',')
      ->check(CLI::NonNegativeNumber);
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
    throw harness::BadInput(fmt::format("--patience: got {}, expected seconds above 0, at most {}",
                                        arguments.patience_s,
                                        patience_max_s));
  }
  if (arguments.rank >= arguments.ranks) {
    throw harness::BadInput(fmt::format(
        "--rank: got {}, expected less than the {} of --ranks", arguments.rank, arguments.ranks));
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
