#pragma once

#include <stdexcept>
#include <string_view>

#include <mpi.h>

namespace rankcheck::gpu::mpi {

/// An MPI call returned an error: the call and MPI's words.
class Error : public std::runtime_error {
 public:
  Error(std::string_view call, int code);
};

/// Throws Error unless the code is success.
inline void check(int code, std::string_view call) {
  if (code != MPI_SUCCESS) throw Error(call, code);
}

}  // namespace rankcheck::gpu::mpi
