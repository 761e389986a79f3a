#include "cases/backends/command_backend.hpp"

#include <chrono>

#include <fmt/format.h>
#include <unistd.h>

#include "reference/registry.hpp"

#include "harness/program.hpp"
#include "harness/worker/worker_backend.hpp"

namespace rankcheck::cases {

std::string program_beside(std::string_view name) {
  return harness::own_program().parent_path() / name;
}

std::string require_program_beside(std::string_view name) {
  std::string path = program_beside(name);
  if (::access(path.c_str(), X_OK) == 0) return path;
  throw harness::BadInput(fmt::format(
      "{} is missing beside rankcheck: build rankcheck where the backend can be built", name));
}

std::string why_command_unavailable(const std::string& path) {
  if (::access(path.c_str(), X_OK) == 0) return {};
  return "command:" + path + ": expected an executable program";
}

std::unique_ptr<harness::Backend> open_command(const std::string& path,
                                               const harness::BackendOptions& options) {
  return std::make_unique<harness::worker::WorkerBackend>(harness::worker::WorkerOptions{
      .command =
          [path](const std::string&) {
            return harness::worker::Command{.arguments = {path}, .environment = {}};
          },
      .contract_of = reference::find_contract,
      .over_standard_io = true,
      .start_timeout = std::chrono::seconds(10),
      .run_timeout = std::chrono::duration<double>(options.timeout_s),
      .stop = options.stop,
  });
}

}  // namespace rankcheck::cases
