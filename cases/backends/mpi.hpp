#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "harness/backend.hpp"

namespace rankcheck::cases {

/// Open MPI, or another MPI library, in processes that mpirun starts.
[[nodiscard]] harness::BackendEntry mpi_backend();

/// Its complaints begin with this name.
inline constexpr std::string_view mpi_reconstruct_program = "rankcheck-reconstruct-mpi";

/// Runs that program with these arguments in so many processes. Their standard output is ours. They
/// are asked to end once `interrupted` is true. Returns the exit status: 0, or 1 where something
/// was falsified. Throws BadInput where there are too many ranks or the program is missing, and
/// std::runtime_error with the processes' complaint, or with how they died.
[[nodiscard]] int reconstruct_in_mpi(int ranks,
                                     const std::vector<std::string>& arguments,
                                     const std::atomic<bool>& interrupted);

}  // namespace rankcheck::cases
