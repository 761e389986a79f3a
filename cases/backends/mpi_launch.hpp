#pragma once

#include <string>

#include "harness/worker/process.hpp"

/// Starts programs as processes of the MPI library.
namespace rankcheck::cases {

/// The most processes. All of them share one machine.
inline constexpr int mpi_processes_max = 64;

/// Returns why this program cannot be started as MPI processes. Empty if it can. `name` is the name
/// of a program beside rankcheck.
[[nodiscard]] std::string why_mpi_cannot_start(const std::string& name);

/// Returns the command that starts the program at `path`. `directory` is an empty folder for the
/// library's files. MPI libraries other than Open MPI ignore the command's variables.
[[nodiscard]] harness::worker::Command mpi_command(int processes,
                                                   const std::string& directory,
                                                   const std::string& path);

}  // namespace rankcheck::cases
