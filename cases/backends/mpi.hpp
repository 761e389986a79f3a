#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "harness/backend/backend.hpp"

namespace rankcheck::cases {

/// Returns the backend for Open MPI, or another MPI library, in processes that mpirun starts.
[[nodiscard]] harness::BackendEntry mpi_backend();

/// Name of the program that reconstructs. Its error messages begin with this name.
inline constexpr std::string_view mpi_reconstruct_program = "rankcheck-reconstruct-mpi";

/// Runs rankcheck-reconstruct-mpi with these arguments in `ranks` processes. The processes write to
/// our standard output. They are asked to end once `interrupted` is true. Returns the exit status:
/// 0, or 1 if something was falsified. Throws BadInput if there are too many ranks or the program
/// is missing. Throws std::runtime_error with the processes' error message, or with the way they
/// died.
[[nodiscard]] int reconstruct_in_mpi(int ranks,
                                     const std::vector<std::string>& arguments,
                                     const std::atomic<bool>& interrupted);

}  // namespace rankcheck::cases
