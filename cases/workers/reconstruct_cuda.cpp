#include <algorithm>
#include <exception>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "reference/registry.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/collectives/registry.hpp"
#include "gpu/device/cuda/cluster.hpp"
#include "gpu/device/cuda/devices.hpp"

#include "harness/run/exit_status.hpp"

#include "cases/backends/cuda.hpp"
#include "cases/backends/worker_command.hpp"
#include "cases/reconstruct/reconstruct_command.hpp"
#include "cases/workers/cuda_process.hpp"

/// rankcheck-reconstruct-cuda: the command `reconstruct` on this machine's CUDA devices. It takes
/// the command line of `rankcheck reconstruct`.
namespace rankcheck::cases {

namespace {

/// Reconstructs on logical devices, one for each rank.
int reconstruct_here(const reconstruct::Options& options) {
  namespace cuda = gpu::cuda;
  if (const std::string why = cuda::why_unavailable(); !why.empty()) throw gpu::DeviceError(why);
  std::vector<int> ranks(spec::to_size(std::max(options.ranks, 1)));
  std::iota(ranks.begin(), ranks.end(), 0);
  cuda::Devices devices(static_cast<int>(ranks.size()));
  cuda::CudaCluster cluster(devices, reference::contract_named, gpu::algorithm_for);
  cluster.begin(ranks);
  const harness::run::Interrupt interrupt{worker_end_signal};
  return reconstruct_on(cluster, options, interrupt);
}

}  // namespace

}  // namespace rankcheck::cases

int main(int argc, char** argv) {
  namespace cases = rankcheck::cases;
  try {
    cases::choose_queues();
    cases::end_with_harness();
    return cases::reconstruct::run_command(argc, argv, true, cases::reconstruct_here);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", cases::cuda_reconstruct_program, error.what());
    return rankcheck::harness::run::status_unable;
  }
}
