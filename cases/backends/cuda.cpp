#include "cases/backends/cuda.hpp"

#include <chrono>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "reference/registry.hpp"

#include "harness/run/available_backends.hpp"
#include "harness/worker/worker_backend.hpp"

#include "cases/backends/command_backend.hpp"
#include "cases/backends/worker_command.hpp"

namespace rankcheck::cases {

namespace {

namespace worker = harness::worker;

/// Returns the command that starts the program with these arguments, through the user's launcher if
/// there is one.
worker::Command launch(const std::string& program, const std::vector<std::string>& arguments) {
  worker::Command command;
  const char* launcher = std::getenv(cuda_launcher_variable);
  std::istringstream words(launcher == nullptr ? "" : launcher);
  for (std::string word; words >> word;) command.arguments.push_back(word);
  command.arguments.push_back(program);
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  return command;
}

std::unique_ptr<harness::Backend> open_cuda(const harness::BackendOptions& options) {
  return std::make_unique<worker::WorkerBackend>(worker::WorkerOptions{
      .command =
          [](const std::string&, int ranks) {
            return cuda_worker_command({"--ranks", std::to_string(ranks)});
          },
      .ranks = options.ranks_max,
      .contract_of = reference::find_contract,
      .is_own = true,
      .run_timeout = std::chrono::duration<double>(options.timeout_s),
      .stop = options.stop,
  });
}

}  // namespace

WorkerProgram cuda_worker() {
  return {program_beside("rankcheck-worker-cuda"),
          "install the CUDA Toolkit (nvcc) and build rankcheck from its sources"};
}

worker::Command cuda_worker_command(const std::vector<std::string>& arguments) {
  return launch(cuda_worker().path, arguments);
}

int reconstruct_in_cuda(int ranks,
                        const std::vector<std::string>& arguments,
                        const std::atomic<bool>& interrupted) {
  harness::run::require_ranks("cuda", ranks, cuda_ranks_max);
  return run_worker(launch(require_program_beside(cuda_reconstruct_program), arguments),
                    fmt::format("backend cuda: {}", cuda_reconstruct_program),
                    fmt::format("{}: ", cuda_reconstruct_program),
                    interrupted);
}

harness::BackendEntry cuda_backend() {
  return {.name = "cuda",
          .summary =
              "Ranks run on the streams of this machine's CUDA devices, any number on each device.",
          .why_unavailable = [] { return cuda_worker().why_unavailable(); },
          .open = open_cuda,
          .ranks_max = cuda_ranks_max,
          .compiled = [] { return cuda_worker().compiled(); },
          .notes = [] { return cuda_worker().notes(); }};
}

}  // namespace rankcheck::cases
