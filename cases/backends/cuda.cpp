#include "cases/backends/cuda.hpp"

#include <chrono>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "harness/worker/worker_backend.hpp"

#include "cases/backends/command.hpp"

namespace rankcheck::cases {

namespace {

namespace worker = harness::worker;

/// Logical devices; any number of them share one GPU.
constexpr int ranks_max = 64;

worker::Command command(int ranks) {
  worker::Command command;
  const char* launcher = std::getenv(cuda_launcher_variable);
  std::istringstream words(launcher == nullptr ? "" : launcher);
  for (std::string word; words >> word;) command.arguments.push_back(word);
  for (std::string word : {cuda_worker().path, std::string("--ranks"), std::to_string(ranks)}) {
    command.arguments.push_back(std::move(word));
  }
  return command;
}

std::unique_ptr<worker::WorkerBackend> open_worker(const harness::BackendOptions& options) {
  return std::make_unique<worker::WorkerBackend>(worker::WorkerOptions{
      .command = [ranks = options.ranks_max](const std::string&) { return command(ranks); },
      .contract_of = contract_of,
      .run_timeout = std::chrono::duration<double>(options.timeout_s),
  });
}

std::unique_ptr<harness::Backend> open(const harness::BackendOptions& options) {
  if (options.ranks_max > ranks_max) {
    throw harness::BadInput(
        fmt::format("backend cuda: {} ranks: expected at most {}", options.ranks_max, ranks_max));
  }
  return open_worker(options);
}

nlohmann::json describe() {
  return open_worker({.ranks_max = 1})->versions();
}

}  // namespace

WorkerProgram cuda_worker() {
  return {program_beside("rankcheck-worker-cuda"),
          "install the CUDA Toolkit (nvcc) and build again"};
}

harness::BackendEntry cuda_backend() {
  return {.name = "cuda",
          .summary =
              "ranks on the streams of this machine's CUDA devices, any number on each; "
              "never run on hardware",
          .why_unavailable = [] { return cuda_worker().why_unavailable(); },
          .open = open,
          .describe = describe,
          .ranks_max = ranks_max,
          .compiled = [] { return cuda_worker().compiled(); }};
}

}  // namespace rankcheck::cases
