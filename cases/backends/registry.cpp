#include "cases/backends/registry.hpp"

#include <memory>
#include <string>

#include "harness/worker/worker_backend.hpp"

#include "cases/backends/command_backend.hpp"
#include "cases/backends/cuda.hpp"
#include "cases/backends/hybrid.hpp"
#include "cases/backends/mpi.hpp"
#include "cases/backends/mpi_launch.hpp"
#include "cases/backends/nccl.hpp"
#include "cases/backends/sim.hpp"

namespace rankcheck::cases {

namespace {

/// Opens a backend whose workers are started and watched as these options say. Throws
/// std::runtime_error.
template <harness::worker::WorkerOptions (*options_of)(const std::string&,
                                                       const harness::BackendOptions&)>
std::unique_ptr<harness::Backend> open_workers(const std::string& line,
                                               const harness::BackendOptions& options) {
  return std::make_unique<harness::worker::WorkerBackend>(options_of(line, options));
}

harness::BackendEntry sim_backend() {
  return {
      .name = "sim",
      .summary =
          "Simulated devices run in this process, with deterministic schedules and every access "
          "checked.",
      .why_unavailable = [] { return std::string(); },
      .open = open_sim,
      .stands_for_unmentioned = true,
  };
}

}  // namespace

const harness::run::AvailableBackends& available_backends() {
  static const harness::run::AvailableBackends all(
      {sim_backend(), mpi_backend(), cuda_backend(), nccl_backend(), hybrid_backend()},
      {{.prefix = "mpi:",
        .placeholder = "FOLDER",
        .summary = "The same as mpi, for the MPI library of a worker in a folder of its own.",
        .why_unavailable = why_no_mpi_worker_in,
        .open = open_mpi_in,
        .ranks_max = mpi_processes_max,
        .stands_for = "mpi"},
       {.prefix = "command:",
        .placeholder = "LINE",
        .summary = "Worker processes of your own implement the operations.",
        .why_unavailable = why_command_unavailable,
        .open = open_workers<options_of_command>},
       {.prefix = "python:",
        .placeholder = "FILE",
        .summary = "A subject in a file of Python implements the operations.",
        .why_unavailable = why_python_unavailable,
        .open = open_workers<options_of_python>},
       {.prefix = "listen:",
        .placeholder = "ADDRESS",
        .summary = "Ranks that you start connect to an address of the loopback.",
        .why_unavailable = why_listen_unavailable,
        .open = open_workers<options_of_listen>,
        .is_single = true}});
  return all;
}

}  // namespace rankcheck::cases
