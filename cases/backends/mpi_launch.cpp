#include "cases/backends/mpi_launch.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <unistd.h>

#include "reference/spec/to_size.hpp"

#include "harness/files.hpp"
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

/// Starts a program with a host's name of its own. Users who are not root need a namespace for
/// users too.
std::string unshare() {
  return ::geteuid() == 0 ? "unshare --uts" : "unshare --map-root-user --uts";
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

harness::worker::Command mpi_command_on_hosts(int processes,
                                              const std::vector<int>& hosts,
                                              const std::string& directory,
                                              const std::string& path) {
  harness::worker::Command command = mpi_command(processes, directory, path);
  // Open MPI starts a daemon on each host by `sh agent.sh HOST COMMAND...`.
  const std::string agent = directory + "/agent.sh";
  harness::write_file(agent,
                      "host=$1; shift\nexec " + unshare() +
                          " sh -c 'hostname \"$0\" && exec sh -c \"$*\"' \"$host\" \"$@\"\n");
  std::vector<std::string>& arguments = command.arguments;
  arguments.resize(1);
  for (int first = 0; first < processes;) {
    const auto host_of = [&](int rank) {
      return rank < static_cast<int>(hosts.size()) ? hosts[spec::to_size(rank)] : 0;
    };
    int last = first;
    while (last < processes && host_of(last) == host_of(first)) ++last;
    if (first > 0) arguments.emplace_back(":");
    // The number behind the colon says how many processes a host may have.
    arguments.insert(arguments.end(),
                     {"-n",
                      std::to_string(last - first),
                      "--host",
                      fmt::format("host{}:{}", host_of(first), mpi_processes_max),
                      path});
    first = last;
  }
  auto& environment = command.environment;
  environment["OMPI_MCA_plm"] = "rsh";
  environment["OMPI_MCA_plm_rsh_agent"] = "sh " + agent;
  environment["OMPI_MCA_btl"] = "self,vader,tcp";
  environment["OMPI_MCA_btl_tcp_if_include"] = "lo";
  environment["OMPI_MCA_oob_tcp_if_include"] = "lo";
  return command;
}

std::string why_no_mpi_hosts(const std::string& version) {
  if (!version.starts_with("Open MPI")) {
    return "hosts: only Open MPI starts ranks on several hosts of one machine, and this is " +
           version;
  }
  for (const std::string program : {"unshare", "hostname"}) {
    if (harness::find_program(program).empty()) return "hosts: " + program + " is missing";
  }
  static const bool is_allowed =
      std::system((unshare() + " hostname rankcheck >/dev/null 2>&1").c_str()) == 0;
  return is_allowed ? "" : "hosts: the system does not allow `" + unshare() + "`";
}

}  // namespace rankcheck::cases
