#pragma once

#include <string>
#include <vector>

#include "harness/worker/process.hpp"

/// Starts programs as processes of the MPI library.
namespace rankcheck::cases {

/// The most processes. All of them share one machine.
inline constexpr int mpi_processes_max = 64;

/// Returns the launcher of the MPI library that the programs beside rankcheck were built with, or
/// the one that RANKCHECK_MPIEXEC names in its place.
[[nodiscard]] std::string mpi_launcher();

/// Returns why this program cannot be started as MPI processes. Empty if it can. `name` is the name
/// of a program beside rankcheck.
[[nodiscard]] std::string why_mpi_cannot_start(const std::string& name);

/// Returns the command that starts the program at `path`. `directory` is an empty folder for the
/// library's files. MPI libraries other than Open MPI ignore the command's variables.
[[nodiscard]] harness::worker::Command mpi_command(const std::string& launcher,
                                                   int processes,
                                                   const std::string& directory,
                                                   const std::string& path);

/// Returns the command that starts the program at `path` on several hosts of Open MPI or MPICH:
/// hosts[r] is the host of rank r. The ranks behind them are on host 0, or with MPICH on the last
/// host. Each host is this machine under another name, in a namespace of its own. Ranks of one host
/// share memory, and ranks of different hosts use TCP. Leaves a script in `directory`.
[[nodiscard]] harness::worker::Command mpi_command_on_hosts(const std::string& launcher,
                                                            int processes,
                                                            const std::vector<int>& hosts,
                                                            const std::string& directory,
                                                            const std::string& path);

/// Returns why mpi_command_on_hosts() cannot be used with the launcher of a library that describes
/// itself so, and for these hosts. Empty if it can.
[[nodiscard]] std::string why_no_mpi_hosts(const std::string& launcher,
                                           const std::string& version,
                                           const std::vector<int>& hosts);

}  // namespace rankcheck::cases
