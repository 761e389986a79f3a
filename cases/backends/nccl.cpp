#include "cases/backends/nccl.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "reference/registry.hpp"

#include "harness/worker/worker_backend.hpp"

#include "cases/backends/command_backend.hpp"
#include "cases/backends/worker_program.hpp"

namespace rankcheck::cases {

namespace {

namespace worker = harness::worker;

/// Each rank is a process, and all processes share one machine.
constexpr int nccl_ranks_max = 64;

WorkerProgram program() {
  return {program_beside("rankcheck-worker-nccl"),
          "install NCCL's header (2.28 or newer; Debian: libnccl-dev) and the CUDA Toolkit, and "
          "build rankcheck from its sources"};
}

worker::Command command_of(int ranks, double patience_s) {
  return {.arguments = {program().path,
                        "--ranks",
                        std::to_string(ranks),
                        "--patience",
                        fmt::format("{}", patience_s)},
          .environment = {}};
}

std::unique_ptr<harness::Backend> open_nccl(const harness::BackendOptions& options) {
  // A worker that gives up by itself leaves the device clean. So the worker gets less time than our
  // own timeout.
  const double patience_s = 0.8 * options.timeout_s;
  return std::make_unique<worker::WorkerBackend>(worker::WorkerOptions{
      .command = [patience_s](const std::string&,
                              int ranks) { return command_of(ranks, patience_s); },
      .ranks = options.ranks_max,
      .command_on_hosts =
          [patience_s](const std::string&, int ranks, const std::vector<int>& hosts) {
            worker::Command made = command_of(ranks, patience_s);
            made.arguments.insert(made.arguments.end(),
                                  {"--hosts", fmt::format("{}", fmt::join(hosts, ","))});
            return made;
          },
      .contract_of = reference::find_contract,
      .is_own = true,
      .run_timeout = std::chrono::duration<double>(options.timeout_s),
      // NCCL takes up to half a second to end each communicator of a world.
      .end_timeout = worker::seconds_of(worker::end_timeout_variable, 60),
      .stop = options.stop,
  });
}

}  // namespace

harness::BackendEntry nccl_backend() {
  return {.name = "nccl",
          .summary =
              "NCCL's own collectives run in one process per rank or in one process, with several "
              "ranks on a device.",
          .why_unavailable = [] { return program().why_unavailable(); },
          .open = open_nccl,
          .ranks_max = nccl_ranks_max,
          // NCCL uses its direct paths between devices only if no two ranks share a device.
          .one_rank_per_device = true,
          .compiled = [] { return program().compiled(); },
          .notes = [] { return program().notes(); }};
}

std::string why_short_of_shared_memory() {
  const nlohmann::json said = program().description();
  return said.is_null() ? std::string() : said.value("shared_memory", std::string());
}

}  // namespace rankcheck::cases
