#pragma once

#include "harness/backend.hpp"

namespace rankcheck::cases {

/// NCCL, or a library with its interface: a process per rank, or all ranks in one.
[[nodiscard]] harness::BackendEntry nccl_backend();

}  // namespace rankcheck::cases
