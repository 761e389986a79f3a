#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "reference/registry.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/collectives/registry.hpp"
#include "gpu/device/hybrid/cluster.hpp"
#include "gpu/device/hybrid/mpi_processes.hpp"

#include "cases/backends/hybrid.hpp"
#include "cases/backends/worker_command.hpp"
#include "cases/reconstruct/reconstruct_command.hpp"
#include "cases/workers/cuda_process.hpp"
#include "cases/workers/hybrid_process.hpp"
#include "cases/workers/mpi_process.hpp"

/// rankcheck-reconstruct-hybrid: one of the MPI processes with several devices each that share the
/// command `reconstruct`. It takes the command line of `rankcheck reconstruct`.
namespace rankcheck::cases {

namespace {

namespace hybrid = gpu::hybrid;

int run_reconstruct(hybrid::MpiProcesses& processes, int argc, char** argv) {
  const auto run = [&](const reconstruct::Options& options) {
    const hybrid::Placement placement{.ranks = std::max(options.ranks, 1),
                                      .devices_per_process = devices_per_process()};
    const auto devices = make_own_devices(placement, processes);
    hybrid::HybridCluster cluster(
        processes, *devices, placement, reference::contract_named, gpu::algorithm_for);
    std::vector<int> all(spec::to_size(placement.ranks));
    std::iota(all.begin(), all.end(), 0);
    cluster.begin(all);
    const harness::run::Interrupt interrupt{worker_end_signal};
    reconstruct::Options placed = options;
    placed.devices = fmt::format("{} {} devices a process",
                                 placement.devices_per_process,
                                 devices->has_cuda_memory() ? "cuda" : "sim");
    const int status = reconstruct_on(cluster, placed, interrupt);
    cluster.end();
    return status;
  };
  return reconstruct::run_command(argc, argv, processes.rank() == 0, run);
}

}  // namespace

}  // namespace rankcheck::cases

int main(int argc, char** argv) {
  namespace cases = rankcheck::cases;
  cases::choose_queues();
  return cases::reconstruct_together<rankcheck::gpu::hybrid::MpiProcesses>(
      cases::hybrid_reconstruct_program,
      [&](auto& processes) { return cases::run_reconstruct(processes, argc, argv); });
}
