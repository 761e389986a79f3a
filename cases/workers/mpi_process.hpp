#pragma once

#include <cstdlib>
#include <exception>
#include <string_view>

#include <fmt/format.h>

#include "harness/run/exit_status.hpp"
#include "harness/worker/serve.hpp"

namespace rankcheck::cases {

/// The main function of a program that MPI starts several times. work() returns the exit status.
/// `program` is the program's name, for complaints.
template <class Work>
int run_mpi_process(std::string_view program, const Work& work) {
  try {
    harness::worker::end_with_parent();
    return work();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", program, error.what());
    // Without MPI_Abort the other processes would wait for this one in MPI_Finalize.
    std::_Exit(harness::run::status_unable);
  }
}

/// The same for processes that reconstruct together. `Processes` joins them, and run(processes)
/// returns the exit status.
template <class Processes, class Run>
int reconstruct_together(std::string_view program, const Run& run) {
  return run_mpi_process(program, [&] {
    Processes processes;
    try {
      return run(processes);
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}: {}\n", program, error.what());
      // The other processes may wait for this one in a collective, while this one waits for them in
      // MPI_Finalize.
      Processes::abort(harness::run::status_unable);
    }
  });
}

}  // namespace rankcheck::cases
