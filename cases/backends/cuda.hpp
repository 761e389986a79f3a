#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "harness/backend.hpp"

namespace rankcheck::cases {

/// Names a program, and its arguments, that starts the worker: a sanitizer, say.
inline constexpr const char* cuda_launcher_variable = "RANKCHECK_CUDA_LAUNCHER";

/// The worker, whether it is there or not.
[[nodiscard]] std::string cuda_worker_path();
/// What the worker says of itself and of the devices here; null where it is missing or broken.
[[nodiscard]] nlohmann::json describe_cuda();

/// CUDA devices of this machine, all ranks in one process.
[[nodiscard]] harness::BackendEntry cuda_backend();

}  // namespace rankcheck::cases
