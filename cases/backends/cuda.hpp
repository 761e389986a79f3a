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

/// What the worker says first where it cannot go on.
inline constexpr std::string_view cuda_complaint_begin = "rankcheck-worker-cuda: ";

/// Runs the worker program with these arguments, whose standard output is ours, asks it to end once
/// `interrupted` is true, and returns the exit status: 0, or 1 where something was falsified.
/// Throws BadInput where there are too many ranks, and std::runtime_error with the worker's
/// complaint, or with how it died.
[[nodiscard]] int run_in_cuda(int ranks,
                              const std::vector<std::string>& arguments,
                              const std::atomic<bool>& interrupted);

/// CUDA devices of this machine, all ranks in one process.
[[nodiscard]] harness::BackendEntry cuda_backend();

}  // namespace rankcheck::cases
