#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "harness/backend.hpp"

namespace rankcheck::cases {

/// Open MPI, or another MPI library, in processes that mpirun starts.
[[nodiscard]] harness::BackendEntry mpi_backend();

/// What a process that cannot go on says first.
inline constexpr std::string_view mpi_complaint_begin = "rankcheck-worker-mpi: ";

/// Runs the worker program with these arguments in so many processes, whose standard output is
/// ours, asks them to end once `interrupted` is true, and returns the exit status: 0, or 1 where
/// something was falsified. Throws BadInput where there are too many ranks, and std::runtime_error
/// with the processes' complaint, or with how they died.
[[nodiscard]] int run_in_mpi(int ranks,
                             const std::vector<std::string>& arguments,
                             const std::atomic<bool>& interrupted);

}  // namespace rankcheck::cases
