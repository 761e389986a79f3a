#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "reference/registry.hpp"

#include "gpu/collectives/registry.hpp"
#include "gpu/device/sim/cluster.hpp"

#include "harness/run/available_backends.hpp"
#include "harness/run/exit_status.hpp"
#include "harness/run/interrupt.hpp"

#include "cases/backends/cuda.hpp"
#include "cases/backends/hybrid.hpp"
#include "cases/backends/mpi.hpp"
#include "cases/backends/ranks.hpp"
#include "cases/backends/registry.hpp"
#include "cases/commands/cli.hpp"
#include "cases/reconstruct/reconstruct_command.hpp"

namespace rankcheck::cases {

namespace {

using harness::BadInput;

/// Reconstructs in this process, on simulated devices.
int reconstruct_in_sim(const reconstruct::Options& options) {
  harness::run::require_ranks("sim", options.ranks, data_ranks_max);
  const harness::run::Interrupt interrupt;
  gpu::sim::SimCluster cluster(reference::contract_named, gpu::algorithm_for);
  cluster.begin(std::max(options.ranks, 1), {}, {});
  const int status = reconstruct_on(cluster, options, interrupt);
  cluster.end();
  return status == harness::run::status_held ? interrupt.exit_status() : status;
}

/// Reconstructs in a program that takes the same command line.
int reconstruct_elsewhere(const Context& context, const reconstruct::Options& options) {
  const std::map<std::string, decltype(&reconstruct_in_mpi)> backends{
      {"mpi", reconstruct_in_mpi},
      {"cuda", reconstruct_in_cuda},
      {"hybrid", reconstruct_in_hybrid}};
  const auto backend = backends.find(options.backend);
  if (backend == backends.end()) {
    throw BadInput(
        fmt::format("backend: {}: expected a backend of reconstruct: sim, mpi, cuda or hybrid",
                    options.backend));
  }
  available_backends().require(options.backend);
  const harness::run::Interrupt interrupt;
  std::vector<std::string> arguments = context.arguments;
  // For the other program, our terminal is a pipe, so it needs an explicit option.
  arguments.push_back("--progress=" + options.progress);
  const int status = backend->second(std::max(options.ranks, 1), arguments, interrupt.requested());
  return status == harness::run::status_held ? interrupt.exit_status() : status;
}

}  // namespace

void add_reconstruct(CLI::App& app, Context& context) {
  reconstruct::add_command(
      app, context.exit_status, [&context](const reconstruct::Options& options) {
        return options.backend == "sim" ? reconstruct_in_sim(options)
                                        : reconstruct_elsewhere(context, options);
      });
}

}  // namespace rankcheck::cases
