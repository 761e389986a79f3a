#include "gpu/device/mpi/error.hpp"

#include <array>
#include <string>

#include "reference/spec/to_size.hpp"

namespace rankcheck::gpu::mpi {

namespace {

std::string describe(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) {
    return "error " + std::to_string(code);
  }
  return {text.data(), spec::to_size(length)};
}

}  // namespace

Error::Error(std::string_view call, int code)
    : std::runtime_error(std::string(call) + ": " + describe(code)) {}

}  // namespace rankcheck::gpu::mpi
