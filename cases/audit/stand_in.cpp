#include "cases/audit/stand_in.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "gpu/device/vendor_library.hpp"

#include "harness/base/program.hpp"
#include "harness/search/engine.hpp"

#include "cases/backends/command_backend.hpp"
#include "cases/backends/nccl.hpp"

namespace rankcheck::cases::audit {

namespace {

constexpr std::array faults{
    StandInFault{"symmetric_granularity", "all_gather", "windows"},
    StandInFault{"unaligned_window", "all_reduce", "windows"},
    StandInFault{"kept_flags", "all_reduce", "graph"},
    StandInFault{"kept_input_of_many", "all_gather", "graph"},
};

constexpr int ranks_max = 3;
constexpr std::int64_t elements_max = 4;

std::string library() {
  return program_beside("stand-in/librankcheck-stand-in-nccl.so");
}

}  // namespace

std::span<const StandInFault> stand_in_faults() {
  return faults;
}

std::string why_no_stand_in() {
  const bool has_all = std::filesystem::exists(library()) &&
                       std::filesystem::exists(program_beside("rankcheck-worker-nccl"));
  return has_all ? "" : "needs the stand-in for NCCL, which the tests build";
}

harness::Finding hunt_in_stand_in(const harness::Catalogue& catalogue,
                                  const StandInFault& fault,
                                  const HuntOptions& options) {
  const harness::EnvironmentVariable path(gpu::nccl_library.variable, library());
  const harness::EnvironmentVariable planted("RANKCHECK_STAND_IN", std::string(fault.name));
  const std::unique_ptr<harness::Backend> backend = nccl_backend().open({.ranks_max = ranks_max});
  const harness::Unit unit{.operation = std::string(fault.operation),
                           .algorithm = std::string(fault.algorithm),
                           .backend = "nccl",
                           .property = std::string(StandInFault::property),
                           .cases = options.cases,
                           .ranks_min = 2,
                           .ranks_max = ranks_max,
                           .types = {},
                           .require_all_cells = false,
                           .pinned = {}};
  return run_unit(catalogue, *backend, unit, {.seed = options.seed});
}

std::string why_not_caught_in_stand_in(const harness::Finding& finding) {
  if (finding.verdict != harness::Verdict::falsified) {
    return fmt::format("got {} in {} cases, expected falsified: {}",
                       name(finding.verdict),
                       finding.cases,
                       finding.reason);
  }
  const std::int64_t elements = elements_of(*finding.minimal);
  if (elements <= elements_max) return {};
  return fmt::format("got {} elements, expected at most {}", elements, elements_max);
}

}  // namespace rankcheck::cases::audit
