#include "cases/backends/registry.hpp"

#include <array>

#include <nlohmann/json.hpp>

#include "cases/backends/cuda.hpp"
#include "cases/backends/mpi.hpp"
#include "cases/backends/nccl.hpp"
#include "cases/backends/sim.hpp"

namespace rankcheck::cases {

namespace {

harness::BackendEntry sim_backend() {
  return {
      .name = "sim",
      .summary =
          "Simulated devices run in this process, with deterministic schedules and every access "
          "checked.",
      .why_unavailable = [] { return std::string(); },
      .open = open_sim,
      .describe = [](const harness::StopRequest&) { return nlohmann::json::object(); },
  };
}

}  // namespace

std::span<const harness::BackendEntry> backends() {
  static const std::array all{sim_backend(), mpi_backend(), cuda_backend(), nccl_backend()};
  return all;
}

}  // namespace rankcheck::cases
