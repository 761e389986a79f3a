#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "harness/backend.hpp"
#include "harness/worker/process.hpp"

#include "cases/backends/worker_program.hpp"

namespace rankcheck::cases {

/// Names a program, and its arguments, that starts the worker: a sanitizer, say.
inline constexpr const char* cuda_launcher_variable = "RANKCHECK_CUDA_LAUNCHER";

/// Logical devices; any number of them share one GPU.
inline constexpr int cuda_ranks_max = 64;

/// The worker; it describes the devices here, too.
[[nodiscard]] WorkerProgram cuda_worker();

/// The worker with these arguments, started through the user's launcher where there is one.
[[nodiscard]] harness::worker::Command cuda_worker_command(
    const std::vector<std::string>& arguments);

/// Its complaints begin with this name.
inline constexpr std::string_view cuda_reconstruct_program = "rankcheck-reconstruct-cuda";

/// Runs that program with these arguments, started through the user's launcher where there is one.
/// Its standard output is ours. It is asked to end once `interrupted` is true. Returns the exit
/// status: 0, or 1 where something was falsified. Throws BadInput where there are too many ranks or
/// the program is missing, and std::runtime_error with its complaint, or with how it died.
[[nodiscard]] int reconstruct_in_cuda(int ranks,
                                      const std::vector<std::string>& arguments,
                                      const std::atomic<bool>& interrupted);

/// CUDA devices of this machine, all ranks in one process.
[[nodiscard]] harness::BackendEntry cuda_backend();

}  // namespace rankcheck::cases
