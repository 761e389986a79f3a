#include "cases/backends/mpi_launch.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "reference/spec/to_size.hpp"

#include "harness/base/files.hpp"
#include "harness/base/program.hpp"
#include "harness/base/table.hpp"

#include "cases/backends/command_backend.hpp"

namespace rankcheck::cases {

namespace {

/// Starts a program with a host's name of its own. Users who are not root need a namespace for
/// users too.
std::string unshare() {
  return ::geteuid() == 0 ? "unshare --uts" : "unshare --map-root-user --uts";
}

/// Whether the launcher is Hydra, MPICH's.
bool is_hydra(const std::string& launcher) {
  const std::string command = harness::shell_quoted(launcher) + " --version 2>&1";
  return std::system((command + " | grep -q HYDRA").c_str()) == 0;
}

/// Writes a script that runs a command under the name of a host: `agent.sh HOST COMMAND...`. Hydra
/// passes options before the host. Returns the script's path.
std::string write_agent(const std::string& directory) {
  std::string agent = directory + "/agent.sh";
  harness::write_file(agent,
                      "#!/bin/sh\nwhile [ \"${1#-}\" != \"$1\" ]; do shift; done\n"
                      "host=$1; shift\nexec " +
                          unshare() +
                          " sh -c 'hostname \"$0\" && exec sh -c \"$*\"' \"$host\" \"$@\"\n");
  return agent;
}

/// Calls take(first, count, host) for each part of the ranks whose members are one behind another
/// on one host.
template <class Take>
void each_host(int processes, const std::vector<int>& hosts, int other_host, const Take& take) {
  const auto host_of = [&](int rank) {
    return rank < static_cast<int>(hosts.size()) ? hosts[spec::to_size(rank)] : other_host;
  };
  for (int first = 0; first < processes;) {
    int last = first;
    while (last < processes && host_of(last) == host_of(first)) ++last;
    take(first, last - first, host_of(first));
    first = last;
  }
}

void start_on_hosts_of_open_mpi(int processes,
                                const std::vector<int>& hosts,
                                const std::string& directory,
                                const std::string& path,
                                harness::worker::Command& command) {
  std::vector<std::string>& arguments = command.arguments;
  arguments.resize(1);
  each_host(processes, hosts, 0, [&](int first, int count, int host) {
    if (first > 0) arguments.emplace_back(":");
    // The number behind the colon says how many processes a host may have.
    arguments.insert(arguments.end(),
                     {"-n",
                      std::to_string(count),
                      "--host",
                      fmt::format("host{}:{}", host, mpi_processes_max),
                      path});
  });
  auto& environment = command.environment;
  // Open MPI starts a daemon on each host.
  environment["OMPI_MCA_plm"] = "rsh";
  environment["OMPI_MCA_plm_rsh_agent"] = "sh " + write_agent(directory);
  environment["PRTE_MCA_plm"] = "ssh";
  environment["PRTE_MCA_plm_ssh_agent"] = environment["OMPI_MCA_plm_rsh_agent"];
  environment["OMPI_MCA_btl"] = "self,vader,tcp";
  environment["OMPI_MCA_btl_tcp_if_include"] = "lo";
  environment["OMPI_MCA_oob_tcp_if_include"] = "lo";
}

void start_on_hosts_of_mpich(int processes,
                             const std::vector<int>& hosts,
                             const std::string& directory,
                             harness::worker::Command& command) {
  const std::string agent = write_agent(directory);
  std::filesystem::permissions(agent, std::filesystem::perms::owner_all);
  std::string list;
  each_host(processes, hosts, hosts.back(), [&](int /*first*/, int count, int host) {
    list += fmt::format("{}host{}:{}", list.empty() ? "" : ",", host, count);
  });
  command.arguments.insert(
      command.arguments.begin() + 1,
      {"-iface", "lo", "-launcher", "ssh", "-launcher-exec", agent, "-hosts", list});
  // Between hosts, libfabric or UCX uses TCP. UCX of MPICH 5 takes the loopback within a host only.
  auto& environment = command.environment;
  environment["MPIR_CVAR_CH4_NETMOD"] = "ofi";
  environment["UCX_TLS"] = "tcp,self";
  environment["UCX_NET_DEVICES"] = "lo";
  environment["FI_PROVIDER"] = "tcp";
  environment["FI_TCP_IFACE"] = "lo";
}

}  // namespace

std::string mpi_launcher() {
  const char* named = std::getenv("RANKCHECK_MPIEXEC");
  return named == nullptr ? RANKCHECK_MPIEXEC : named;
}

std::string why_mpi_cannot_start(const std::string& name) {
  if (harness::find_program(program_beside(name)).empty()) {
    return name +
           " is missing beside rankcheck: install an MPI library with its headers (Debian: "
           "libopenmpi-dev) and build rankcheck from its sources";
  }
  if (harness::find_program(mpi_launcher()).empty()) {
    return mpi_launcher() + " is missing: install it (Debian: openmpi-bin)";
  }
  return {};
}

harness::worker::Command mpi_command(const std::string& launcher,
                                     int processes,
                                     const std::string& directory,
                                     const std::string& path) {
  return {
      .arguments = {launcher, "-n", std::to_string(processes), path},
      .environment = {
          // Containers run as root, and cases have more ranks than a small machine has cores.
          {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
          {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
          {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
          {"OMPI_MCA_hwloc_base_binding_policy", "none"},
          // Open MPI 5 starts processes with PRRTE, which has parameters of its own.
          {"PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"},
          {"PRTE_MCA_hwloc_default_binding_policy", "none"},
          {"OMPI_MCA_mpi_yield_when_idle", "1"},
          // Ranks of MPICH that wait leave their core to others only if the program may use
          // threads, and with MPICH 4 only with the second variable. If there are more ranks than
          // cores, a call then takes 0.3 ms, not 6 ms.
          {"MPIR_CVAR_DEFAULT_THREAD_LEVEL", "MPI_THREAD_MULTIPLE"},
          {"MPIR_CVAR_ENABLE_HEAVY_YIELD", "1"},
          // If a rank dies, mpirun ends the others at once. By default, it waits a second, in which
          // they poll for messages of the dead rank.
          {"OMPI_MCA_odls_base_sigkill_timeout", "0"},
          // A quarter of the time of a start goes into plugins of hwloc, which look for devices
          // with OpenCL, X11 and so on. Ranks are bound to nothing, so nobody needs what they find.
          // This folder has no plugins.
          {"HWLOC_PLUGINS_PATH", directory},
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
          // Lets the worker see that the launcher is not its library's.
          {"RANKCHECK_MPI_RANKS", std::to_string(processes)},
      }};
}

harness::worker::Command mpi_command_on_hosts(const std::string& launcher,
                                              int processes,
                                              const std::vector<int>& hosts,
                                              const std::string& directory,
                                              const std::string& path) {
  harness::worker::Command command = mpi_command(launcher, processes, directory, path);
  if (is_hydra(launcher)) {
    start_on_hosts_of_mpich(processes, hosts, directory, command);
  } else {
    start_on_hosts_of_open_mpi(processes, hosts, directory, path, command);
  }
  return command;
}

std::string why_no_mpi_hosts(const std::string& launcher,
                             const std::string& version,
                             const std::vector<int>& hosts) {
  const bool is_mpich = version.starts_with("MPICH");
  if (!is_mpich && !version.starts_with("Open MPI")) {
    return "hosts: only Open MPI and MPICH start ranks on several hosts of one machine, and this "
           "is " +
           version;
  }
  const std::string name = std::filesystem::path(launcher).filename();
  if (!name.starts_with("mpirun") && !name.starts_with("mpiexec")) {
    return "hosts: only mpirun and mpiexec start ranks on several hosts of one machine, and "
           "the launcher is " +
           launcher;
  }
  if (is_mpich && !std::is_sorted(hosts.begin(), hosts.end())) {
    return "hosts: MPICH starts the ranks of a host one behind another";
  }
  for (const std::string program : {"unshare", "hostname"}) {
    if (harness::find_program(program).empty()) return "hosts: " + program + " is missing";
  }
  static const bool is_allowed =
      std::system((unshare() + " hostname rankcheck >/dev/null 2>&1").c_str()) == 0;
  return is_allowed ? "" : "hosts: the system does not allow `" + unshare() + "`";
}

}  // namespace rankcheck::cases
