#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "reference/registry.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/device/mpi/cluster.hpp"
#include "gpu/device/mpi/runtime.hpp"

#include "harness/run/exit_status.hpp"
#include "harness/worker/serve.hpp"

#include "cases/backends/mpi.hpp"
#include "cases/backends/worker_command.hpp"
#include "cases/reconstruct/reconstruct_command.hpp"
#include "cases/reconstruct/reconstruct_options.hpp"

/// rankcheck-reconstruct-mpi: one of the MPI processes that share the command `reconstruct`. It
/// takes the command line of `rankcheck reconstruct`.
namespace rankcheck::cases {

namespace {

namespace mpi = gpu::mpi;

void complain(const std::exception& error) {
  fmt::print(stderr, "{}: {}\n", mpi_reconstruct_program, error.what());
}

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

int reconstruct_together(int argc, char** argv) {
  mpi::Runtime runtime;
  try {
    return run_reconstruct(runtime, argc, argv);
  } catch (const std::exception& error) {
    complain(error);
    // The other processes may wait for this one in a collective, while this one waits for them in
    // MPI_Finalize.
    mpi::Runtime::abort(harness::run::status_unable);
  }
}

}  // namespace

}  // namespace rankcheck::cases

int main(int argc, char** argv) {
  try {
    rankcheck::harness::worker::end_with_parent();
    return rankcheck::cases::reconstruct_together(argc, argv);
  } catch (const std::exception& error) {
    rankcheck::cases::complain(error);
    // Without MPI_Abort the other processes would wait for this one in MPI_Finalize.
    std::_Exit(rankcheck::harness::run::status_unable);
  }
}
