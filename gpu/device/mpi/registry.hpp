#pragma once

#include <string_view>
#include <vector>

#include "gpu/device/mpi/operation.hpp"

namespace rankcheck::gpu::mpi {

struct NamedOperation {
  std::string_view name;
  Operation operation;
};

/// All operations that MPI has, sorted by name. Generated from the files gpu/collectives/*/mpi.cpp.
[[nodiscard]] const std::vector<NamedOperation>& operations();

}  // namespace rankcheck::gpu::mpi
