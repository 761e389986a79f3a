#include "cases/backends/mpi_launch.hpp"

#include <cstdlib>

#include "harness/program.hpp"

#include "cases/backends/command_backend.hpp"

namespace rankcheck::cases {

namespace {

/// Returns the launcher of the library that the worker was built with, unless the user names
/// another one.
std::string launcher() {
  const char* named = std::getenv("RANKCHECK_MPIEXEC");
  return named == nullptr ? RANKCHECK_MPIEXEC : named;
}

}  // namespace

std::string why_mpi_cannot_start(const std::string& name) {
  if (harness::find_program(program_beside(name)).empty()) {
    return name +
           " is missing beside rankcheck: install an MPI library with its headers (Debian: "
           "libopenmpi-dev) and build again";
  }
  if (harness::find_program(launcher()).empty()) {
    return launcher() + " is missing: install it (Debian: openmpi-bin)";
  }
  return {};
}

harness::worker::Command mpi_command(int processes,
                                     const std::string& directory,
                                     const std::string& path) {
  return {
      .arguments = {launcher(), "-n", std::to_string(processes), path},
      .environment = {
          // Containers run as root, and cases have more ranks than a small machine has cores.
          {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
          {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
          {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
          {"OMPI_MCA_hwloc_base_binding_policy", "none"},
          {"OMPI_MCA_mpi_yield_when_idle", "1"},
          // Communication uses only this machine's memory: no network, and no system call that
          // containers forbid.
          {"OMPI_MCA_pml", "ob1"},
          {"OMPI_MCA_btl", "self,vader"},
          {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
          {"OMPI_MCA_btl_vader_backing_directory", directory},
          {"OMPI_MCA_plm_rsh_agent", "sh"},
          // Lets the worker tell coll/tuned which algorithm to use. Until then, coll/tuned chooses
          // as usual.
          {"OMPI_MCA_coll_tuned_use_dynamic_rules", "1"},
      }};
}

}  // namespace rankcheck::cases
