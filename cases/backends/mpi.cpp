#include "cases/backends/mpi.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "reference/registry.hpp"

#include "harness/run/available_backends.hpp"
#include "harness/worker/work_folder.hpp"
#include "harness/worker/worker_backend.hpp"

#include "cases/backends/command_backend.hpp"
#include "cases/backends/worker_command.hpp"

namespace rankcheck::cases {

namespace {

namespace worker = harness::worker;

/// Each rank is a process, and all processes share one machine.
constexpr int mpi_ranks_max = 64;

std::string worker_path() {
  return program_beside("rankcheck-worker-mpi");
}

/// Returns the launcher of the library that the worker was built with, unless the user names
/// another one.
std::string launcher() {
  const char* named = std::getenv("RANKCHECK_MPIEXEC");
  return named == nullptr ? RANKCHECK_MPIEXEC : named;
}

bool is_executable(const std::string& name) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((std::filesystem::path(folder) / name).c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::string why_unavailable() {
  if (!is_executable(worker_path())) {
    return "rankcheck-worker-mpi is missing beside rankcheck: install an MPI library with its "
           "headers (Debian: libopenmpi-dev) and build again";
  }
  if (!is_executable(launcher())) {
    return launcher() + " is missing: install it (Debian: openmpi-bin)";
  }
  return {};
}

/// Returns the command that starts the program. MPI libraries other than Open MPI ignore the
/// variables.
worker::Command command(int ranks, const std::string& directory, const std::string& program) {
  return {
      .arguments = {launcher(), "-n", std::to_string(ranks), program},
      .environment = {
          // Containers run as root, and cases have more ranks than a small machine has cores.
          {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
          {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
          {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
          {"OMPI_MCA_hwloc_base_binding_policy", "none"},
          {"OMPI_MCA_mpi_yield_when_idle", "1"},
          // Communication uses only this machine's memory: no network, and no system call that
          // containers forbid.
          {"OMPI_MCA_pml", "ob1"},
          {"OMPI_MCA_btl", "self,vader"},
          {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
          {"OMPI_MCA_btl_vader_backing_directory", directory},
          {"OMPI_MCA_plm_rsh_agent", "sh"},
          // Lets the worker tell coll/tuned which algorithm to use. Until then, coll/tuned chooses
          // as usual.
          {"OMPI_MCA_coll_tuned_use_dynamic_rules", "1"},
      }};
}

std::unique_ptr<worker::WorkerBackend> start_mpi_workers(const harness::BackendOptions& options) {
  return std::make_unique<worker::WorkerBackend>(worker::WorkerOptions{
      .command =
          [ranks = options.ranks_max](const std::string& directory) {
            return command(ranks, directory, worker_path());
          },
      .contract_of = reference::find_contract,
      .run_timeout = std::chrono::duration<double>(options.timeout_s),
      .stop = options.stop,
  });
}

std::unique_ptr<harness::Backend> open_mpi(const harness::BackendOptions& options) {
  harness::run::require_ranks("mpi", options.ranks_max, mpi_ranks_max);
  return start_mpi_workers(options);
}

nlohmann::json describe_mpi(const harness::StopRequest& stop) {
  return start_mpi_workers({.ranks_max = 1, .stop = stop})->versions();
}

}  // namespace

int reconstruct_in_mpi(int ranks,
                       const std::vector<std::string>& arguments,
                       const std::atomic<bool>& interrupted) {
  harness::run::require_ranks("mpi", ranks, mpi_ranks_max);
  const worker::WorkFolder folder;
  worker::Command started =
      command(ranks, folder.path(), require_program_beside(mpi_reconstruct_program));
  started.arguments.insert(started.arguments.end(), arguments.begin(), arguments.end());
  started.environment["TMPDIR"] = folder.path();
  return run_worker(
      started, "backend mpi: mpirun", fmt::format("{}: ", mpi_reconstruct_program), interrupted);
}

harness::BackendEntry mpi_backend() {
  return {.name = "mpi",
          .summary =
              "The MPI library's own collectives run in one process per rank, started with mpirun.",
          .why_unavailable = why_unavailable,
          .open = open_mpi,
          .describe = describe_mpi,
          .ranks_max = mpi_ranks_max};
}

}  // namespace rankcheck::cases
