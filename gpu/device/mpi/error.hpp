#pragma once

#include <stdexcept>
#include <string_view>

#include <mpi.h>

namespace rankcheck::gpu::mpi {

/// An MPI call returned an error. The text has the call and MPI's message.
class Error : public std::runtime_error {
 public:
  Error(std::string_view call, int code);
};

/// Throws Error unless `code` is MPI_SUCCESS.
inline void check(int code, std::string_view call) {
  if (code != MPI_SUCCESS) throw Error(call, code);
}

}  // namespace rankcheck::gpu::mpi
