#include "cases/backends/mpi_launch.hpp"

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <unistd.h>

#include "cases/backends/command_backend.hpp"

namespace rankcheck::cases {

namespace {

/// Returns the launcher of the library that the worker was built with, unless the user names
/// another one.
std::string launcher() {
  const char* named = std::getenv("RANKCHECK_MPIEXEC");
  return named == nullptr ? RANKCHECK_MPIEXEC : named;
}

bool is_executable(const std::string& name) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((std::filesystem::path(folder) / name).c_str(), X_OK) == 0) return true;
  }
  return false;
}

}  // namespace

std::string why_mpi_cannot_start(const std::string& name) {
  if (!is_executable(program_beside(name))) {
    return name +
           " is missing beside rankcheck: install an MPI library with its headers (Debian: "
           "libopenmpi-dev) and build again";
  }
  if (!is_executable(launcher())) {
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
