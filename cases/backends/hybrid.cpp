#include "cases/backends/hybrid.hpp"

#include <chrono>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reference/registry.hpp"

#include "harness/run/available_backends.hpp"
#include "harness/worker/work_folder.hpp"
#include "harness/worker/worker_backend.hpp"

#include "cases/backends/command_backend.hpp"
#include "cases/backends/mpi_launch.hpp"
#include "cases/backends/worker_command.hpp"
#include "cases/backends/worker_program.hpp"

namespace rankcheck::cases {

namespace {

namespace worker = harness::worker;

constexpr int hybrid_ranks_max = 64;

/// Whether the devices are CUDA devices. Throws BadInput if the variable names other devices.
bool is_on_cuda() {
  const char* const named = std::getenv(hybrid_devices_variable);
  const std::string_view devices = named == nullptr ? "sim" : named;
  if (devices == "sim" || devices == "cuda") return devices == "cuda";
  throw harness::BadInput(
      fmt::format("{}: got {:.60}, expected sim or cuda", hybrid_devices_variable, devices));
}

/// Adds the suffix of the programs for these devices.
std::string for_devices(std::string_view program) {
  return fmt::format("{}{}", program, is_on_cuda() ? "-cuda" : "");
}

WorkerProgram hybrid_program() {
  return {program_beside(for_devices("rankcheck-worker-hybrid")),
          is_on_cuda() ? "install an MPI library with its headers (Debian: libopenmpi-dev) and the "
                         "CUDA Toolkit (nvcc), and build rankcheck from its sources"
                       : "install an MPI library with its headers (Debian: libopenmpi-dev) and "
                         "build rankcheck from its sources"};
}

/// Returns why the backend cannot run here. Empty if it can.
std::string why_unavailable() {
  try {
    static_cast<void>(devices_per_process());
    if (std::string why = hybrid_program().why_unavailable(); !why.empty()) return why;
    return why_mpi_cannot_start(for_devices("rankcheck-worker-hybrid"));
  } catch (const harness::BadInput& bad) {
    return bad.what();
  }
}

/// Returns the command that starts the processes for this number of ranks.
worker::Command command(int ranks, const std::string& directory, const std::string& path) {
  const int devices = devices_per_process();
  return mpi_command(mpi_launcher(), (ranks + devices - 1) / devices, directory, path);
}

std::unique_ptr<harness::Backend> open_hybrid(const harness::BackendOptions& options) {
  return std::make_unique<worker::WorkerBackend>(worker::WorkerOptions{
      .command =
          [](const std::string& directory, int ranks) {
            worker::Command started = command(ranks, directory, hybrid_program().path);
            started.arguments.insert(started.arguments.end(),
                                     {"--ranks",
                                      std::to_string(ranks),
                                      "--devices-per-process",
                                      std::to_string(devices_per_process())});
            return started;
          },
      .ranks = options.ranks_max,
      .contract_of = reference::find_contract,
      .is_own = true,
      // A device may not have the memory of two worlds.
      .may_start_ahead = !is_on_cuda(),
      .run_timeout = std::chrono::duration<double>(options.timeout_s),
      .stop = options.stop,
  });
}

}  // namespace

int reconstruct_in_hybrid(int ranks,
                          const std::vector<std::string>& arguments,
                          const std::atomic<bool>& interrupted) {
  harness::run::require_ranks("hybrid", ranks, hybrid_ranks_max);
  const worker::WorkFolder folder;
  worker::Command started = command(
      ranks, folder.path(), require_program_beside(for_devices(hybrid_reconstruct_program)));
  started.arguments.insert(started.arguments.end(), arguments.begin(), arguments.end());
  started.environment["TMPDIR"] = folder.path();
  return run_worker(started,
                    "backend hybrid: mpirun",
                    fmt::format("{}: ", hybrid_reconstruct_program),
                    interrupted);
}

harness::BackendEntry hybrid_backend() {
  return {.name = "hybrid",
          .summary =
              "MPI processes with several devices each, which --devices-per-process and "
              "--devices choose: simulated ones, or CUDA's.",
          .why_unavailable = why_unavailable,
          .open = open_hybrid,
          .ranks_max = hybrid_ranks_max,
          .compiled = [] { return hybrid_program().compiled(); },
          .settings =
              [] {
                return nlohmann::json{{"devices", is_on_cuda() ? "cuda" : "sim"},
                                      {"devices_per_process", devices_per_process()}};
              },
          .notes = [] { return hybrid_program().notes(); }};
}

}  // namespace rankcheck::cases
