#pragma once

#include "harness/backend/backend.hpp"

namespace rankcheck::cases {

/// Returns the backend for NCCL, or a library with its interface: a process per rank, or all ranks
/// in one process.
[[nodiscard]] harness::BackendEntry nccl_backend();

/// Returns why four ranks that share a device do not fit into shared memory. Empty if they fit, or
/// if the worker cannot say.
[[nodiscard]] std::string why_short_of_shared_memory();

}  // namespace rankcheck::cases
