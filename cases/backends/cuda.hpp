#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "harness/backend/backend.hpp"
#include "harness/worker/process.hpp"

#include "cases/backends/worker_program.hpp"

namespace rankcheck::cases {

/// Environment variable: a program, such as a sanitizer, and its arguments. This program then
/// starts the worker.
inline constexpr const char* cuda_launcher_variable = "RANKCHECK_CUDA_LAUNCHER";

/// The most logical devices (ranks). Any number of logical devices can share one GPU.
inline constexpr int cuda_ranks_max = 64;

/// Returns the worker program. It can also describe the devices of this machine.
[[nodiscard]] WorkerProgram cuda_worker();

/// Returns the command that starts the worker with these arguments, through the user's launcher if
/// there is one.
[[nodiscard]] harness::worker::Command cuda_worker_command(
    const std::vector<std::string>& arguments);

/// Name of the program that reconstructs. Its error messages begin with this name.
inline constexpr std::string_view cuda_reconstruct_program = "rankcheck-reconstruct-cuda";

/// Runs rankcheck-reconstruct-cuda with these arguments, through the user's launcher if there is
/// one. The program writes to our standard output. It is asked to end once `interrupted` is true.
/// Returns the exit status: 0, or 1 if something was falsified. Throws BadInput if there are too
/// many ranks or the program is missing. Throws std::runtime_error with the program's error
/// message, or with the way it died.
[[nodiscard]] int reconstruct_in_cuda(int ranks,
                                      const std::vector<std::string>& arguments,
                                      const std::atomic<bool>& interrupted);

/// Returns the backend for this machine's CUDA devices, with all ranks in one process.
[[nodiscard]] harness::BackendEntry cuda_backend();

}  // namespace rankcheck::cases
