#pragma once

#include "harness/backend.hpp"

#include "cases/backends/worker_program.hpp"

namespace rankcheck::cases {

/// Names a program, and its arguments, that starts the worker: a sanitizer, say.
inline constexpr const char* cuda_launcher_variable = "RANKCHECK_CUDA_LAUNCHER";

/// The worker; it describes the devices here, too.
[[nodiscard]] WorkerProgram cuda_worker();

/// CUDA devices of this machine, all ranks in one process.
[[nodiscard]] harness::BackendEntry cuda_backend();

}  // namespace rankcheck::cases
