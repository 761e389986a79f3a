#include "cases/backends/mpi.hpp"

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reference/registry.hpp"

#include "harness/base/program.hpp"
#include "harness/base/table.hpp"
#include "harness/run/available_backends.hpp"
#include "harness/worker/work_folder.hpp"
#include "harness/worker/worker_backend.hpp"

#include "cases/backends/command_backend.hpp"
#include "cases/backends/mpi_launch.hpp"
#include "cases/backends/worker_command.hpp"

namespace rankcheck::cases {

namespace {

namespace worker = harness::worker;

constexpr const char* worker_name = "rankcheck-worker-mpi";

/// A worker and the launcher of the library that it was built with.
struct MpiWorker {
  std::string launcher;
  std::string path;
};

MpiWorker own_worker() {
  return {.launcher = mpi_launcher(), .path = program_beside(worker_name)};
}

/// The worker that `./verify worker` left in a folder.
MpiWorker worker_in(const std::string& folder) {
  const std::filesystem::path place = std::filesystem::absolute(folder);
  return {.launcher = place / "mpiexec", .path = place / worker_name};
}

std::unique_ptr<harness::Backend> start_mpi_workers(const MpiWorker& program,
                                                    const harness::BackendOptions& options) {
  return std::make_unique<worker::WorkerBackend>(worker::WorkerOptions{
      .command =
          [program](const std::string& directory, int ranks) {
            return mpi_command(program.launcher, ranks, directory, program.path);
          },
      .ranks = options.ranks_max,
      .command_on_hosts =
          [program](const std::string& directory, int ranks, const std::vector<int>& hosts) {
            return mpi_command_on_hosts(program.launcher, ranks, hosts, directory, program.path);
          },
      .why_no_hosts =
          [program](const worker::Hello& hello, const std::vector<int>& hosts) {
            return why_no_mpi_hosts(program.launcher, hello.versions.value("mpi", ""), hosts);
          },
      .contract_of = reference::find_contract,
      .is_own = true,
      .may_start_ahead = true,
      .run_timeout = std::chrono::duration<double>(options.timeout_s),
      .stop = options.stop,
  });
}

}  // namespace

int reconstruct_in_mpi(int ranks,
                       const std::vector<std::string>& arguments,
                       const std::atomic<bool>& interrupted) {
  harness::run::require_ranks("mpi", ranks, mpi_processes_max);
  const worker::WorkFolder folder;
  worker::Command started = mpi_command(
      mpi_launcher(), ranks, folder.path(), require_program_beside(mpi_reconstruct_program));
  started.arguments.insert(started.arguments.end(), arguments.begin(), arguments.end());
  started.environment["TMPDIR"] = folder.path();
  return run_worker(
      started, "backend mpi: mpirun", fmt::format("{}: ", mpi_reconstruct_program), interrupted);
}

std::string why_no_mpi_worker_in(const std::string& folder) {
  const MpiWorker program = worker_in(folder);
  for (const std::string& each : {program.path, program.launcher}) {
    if (harness::find_program(each).empty()) {
      return each + " is missing: make it with ./verify worker --mpicc MPICC --output " +
             harness::shell_quoted(folder);
    }
  }
  return {};
}

std::unique_ptr<harness::Backend> open_mpi_in(const std::string& folder,
                                              const harness::BackendOptions& options) {
  return start_mpi_workers(worker_in(folder), options);
}

harness::BackendEntry mpi_backend() {
  return {.name = "mpi",
          .summary =
              "The MPI library's own collectives run in one process per rank, started with mpirun.",
          .why_unavailable = [] { return why_mpi_cannot_start(worker_name); },
          .open =
              [](const harness::BackendOptions& options) {
                return start_mpi_workers(own_worker(), options);
              },
          .ranks_max = mpi_processes_max};
}

}  // namespace rankcheck::cases
