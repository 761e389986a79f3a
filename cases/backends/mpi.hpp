#pragma once

#include "harness/backend.hpp"

namespace rankcheck::cases {

/// Open MPI, or another MPI library, in processes that mpirun starts.
[[nodiscard]] harness::BackendEntry mpi_backend();

}  // namespace rankcheck::cases
