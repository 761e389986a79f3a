#pragma once

#include <string_view>
#include <vector>

#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::mpi {

/// An operation and the MPI call that performs it.
struct Operation {
  std::string_view name;
  void (*perform)(Invocation& invocation) = nullptr;
};

/// All operations that MPI has, sorted by name. Generated from the files gpu/collectives/*/mpi.cpp.
[[nodiscard]] const std::vector<Operation>& operations();

}  // namespace rankcheck::gpu::mpi
