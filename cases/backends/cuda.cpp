#include "cases/backends/cuda.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "harness/table.hpp"
#include "harness/worker/worker_backend.hpp"

#include "cases/backends/command.hpp"

namespace rankcheck::cases {

namespace {

namespace worker = harness::worker;

/// Logical devices; any number of them share one GPU.
constexpr int ranks_max = 64;

std::string why_unavailable() {
  if (::access(cuda_worker_path().c_str(), X_OK) != 0) {
    return "rankcheck-worker-cuda is missing beside rankcheck: install the CUDA Toolkit (nvcc) and "
           "build again";
  }
  const nlohmann::json said = describe_cuda();
  return said.is_null() ? "rankcheck-worker-cuda does not run: build it again"
                        : said.at("unavailable").get<std::string>();
}

std::vector<harness::AlgorithmInfo> compiled() {
  std::vector<harness::AlgorithmInfo> all;
  const nlohmann::json said = describe_cuda();
  if (said.is_null()) return all;
  for (const nlohmann::json& each : said.at("algorithms")) {
    all.push_back({each.at("operation"), each.at("name"), each.at("summary")});
  }
  return all;
}

worker::Command command(int ranks) {
  worker::Command command;
  const char* launcher = std::getenv(cuda_launcher_variable);
  std::istringstream words(launcher == nullptr ? "" : launcher);
  for (std::string word; words >> word;) command.arguments.push_back(word);
  for (std::string word : {cuda_worker_path(), std::string("--ranks"), std::to_string(ranks)}) {
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

std::string cuda_worker_path() {
  return program_beside("rankcheck-worker-cuda");
}

nlohmann::json describe_cuda() {
  const std::string command = harness::shell_quoted(cuda_worker_path()) + " --describe 2>/dev/null";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"),
                                                             ::pclose);
  if (!pipe) return nullptr;
  std::string text;
  std::array<char, 4096> part{};
  while (const std::size_t read = std::fread(part.data(), 1, part.size(), pipe.get())) {
    text.append(part.data(), read);
  }
  nlohmann::json parsed = nlohmann::json::parse(text, nullptr, false);
  return parsed.is_object() ? parsed : nlohmann::json(nullptr);
}

harness::BackendEntry cuda_backend() {
  return {.name = "cuda",
          .summary =
              "ranks on the streams of this machine's CUDA devices, any number on each; "
              "never run on hardware",
          .why_unavailable = why_unavailable,
          .open = open,
          .describe = describe,
          .ranks_max = ranks_max,
          .compiled = compiled};
}

}  // namespace rankcheck::cases
