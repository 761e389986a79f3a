#pragma once

#include "harness/backend.hpp"

namespace rankcheck::cases {

/// CUDA devices of this machine, all ranks in one process.
[[nodiscard]] harness::BackendEntry cuda_backend();

}  // namespace rankcheck::cases
