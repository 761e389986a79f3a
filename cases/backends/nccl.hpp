#pragma once

#include "harness/backend.hpp"

namespace rankcheck::cases {

/// NCCL, or a library with its interface: a process per rank, or all ranks in one.
[[nodiscard]] harness::BackendEntry nccl_backend();

/// Names the file of the library for all workers that this program starts.
void set_nccl_library(const std::string& path);

}  // namespace rankcheck::cases
