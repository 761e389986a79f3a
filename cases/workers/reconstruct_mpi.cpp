#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "reference/registry.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/device/mpi/cluster.hpp"
#include "gpu/device/mpi/runtime.hpp"

#include "cases/backends/mpi.hpp"
#include "cases/backends/worker_command.hpp"
#include "cases/reconstruct/reconstruct_command.hpp"
#include "cases/workers/mpi_process.hpp"

/// rankcheck-reconstruct-mpi: one of the MPI processes that share the command `reconstruct`. It
/// takes the command line of `rankcheck reconstruct`.
namespace rankcheck::cases {

namespace {

namespace mpi = gpu::mpi;

int run_reconstruct(mpi::Runtime& runtime, int argc, char** argv) {
  mpi::MpiCluster cluster(runtime, reference::contract_named);
  std::vector<int> all(spec::to_size(runtime.size()));
  std::iota(all.begin(), all.end(), 0);
  cluster.begin(all, runtime.rank());
  const auto run = [&](const reconstruct::Options& options) {
    if (options.ranks != 0 && options.ranks != cluster.ranks()) {
      throw harness::BadInput(fmt::format(
          "--ranks: got {}, expected {}, a process each", options.ranks, cluster.ranks()));
    }
    const harness::run::Interrupt interrupt{worker_end_signal};
    return reconstruct_on(cluster, options, interrupt);
  };
  const int status = reconstruct::run_command(argc, argv, runtime.rank() == 0, run);
  cluster.end();
  return status;
}

}  // namespace

}  // namespace rankcheck::cases

int main(int argc, char** argv) {
  namespace cases = rankcheck::cases;
  return cases::reconstruct_together<rankcheck::gpu::mpi::Runtime>(
      cases::mpi_reconstruct_program,
      [&](auto& runtime) { return cases::run_reconstruct(runtime, argc, argv); });
}
