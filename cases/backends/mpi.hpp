#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "harness/backend/backend.hpp"

namespace rankcheck::cases {

/// Returns the backend for Open MPI, or another MPI library, in processes that mpirun starts.
[[nodiscard]] harness::BackendEntry mpi_backend();

/// Says in one line why the folder of `mpi:FOLDER` cannot be a backend. Empty if it can be tried.
[[nodiscard]] std::string why_no_mpi_worker_in(const std::string& folder);

/// Opens the backend `mpi:FOLDER`: the same for the MPI library of another compiler wrapper.
/// `verify worker` leaves its worker and a launcher in the folder. Throws std::runtime_error.
[[nodiscard]] std::unique_ptr<harness::Backend> open_mpi_in(const std::string& folder,
                                                            const harness::BackendOptions& options);

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
