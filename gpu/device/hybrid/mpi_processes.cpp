#include "gpu/device/hybrid/mpi_processes.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include <mpi.h>
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include "gpu/device/mpi/error.hpp"

namespace rankcheck::gpu::hybrid {

namespace {

using mpi::check;

/// MPI counts bytes with an int, so longer messages are sent in pieces of this size.
constexpr std::int64_t piece_bytes_max = std::int64_t{1} << 30;
constexpr int tag = 0;

/// Calls visit(offset, count) for every piece of a message. A message without bytes is one piece.
template <class Visit>
void for_each_piece(std::int64_t bytes, const Visit& visit) {
  std::int64_t offset = 0;
  do {
    const std::int64_t count = std::min(bytes - offset, piece_bytes_max);
    visit(offset, static_cast<int>(count));
    offset += count;
  } while (offset < bytes);
}

}  // namespace

MpiProcesses::MpiProcesses() {
  check(MPI_Init(nullptr, nullptr), "MPI_Init");
  check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(MPI_COMM_WORLD, &size_), "MPI_Comm_size");
}

MpiProcesses::~MpiProcesses() {
  MPI_Finalize();
}

void MpiProcesses::abort(int status) {
  MPI_Abort(MPI_COMM_WORLD, status);
  std::_Exit(status);
}

std::string MpiProcesses::version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  check(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
  // Some libraries include the terminating zero in the length, so `length` is not used.
  const std::string whole(text.data());
  return whole.substr(0, whole.find('\n'));
}

bool MpiProcesses::takes_cuda_memory() {
  // Open MPI defines the first macro in mpi-ext.h, MPICH from 4.0 on the second one in mpi.h. Both
  // declare the function there. A macro's value says nothing about the library that is loaded.
#if defined(MPIX_CUDA_AWARE_SUPPORT) || defined(MPIX_GPU_SUPPORT_CUDA)
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

void MpiProcesses::send(int process, const std::byte* data, std::int64_t bytes) {
  for_each_piece(bytes, [&](std::int64_t offset, int count) {
    check(MPI_Send(data + offset, count, MPI_BYTE, process, tag, MPI_COMM_WORLD), "MPI_Send");
  });
}

void MpiProcesses::receive(int process, std::byte* data, std::int64_t bytes) {
  for_each_piece(bytes, [&](std::int64_t offset, int count) {
    MPI_Status status;
    check(MPI_Recv(data + offset, count, MPI_BYTE, process, tag, MPI_COMM_WORLD, &status),
          "MPI_Recv");
    int got = 0;
    check(MPI_Get_count(&status, MPI_BYTE, &got), "MPI_Get_count");
    if (got != count) throw mpi::Error("MPI_Recv: the message is too short", MPI_ERR_TRUNCATE);
  });
}

}  // namespace rankcheck::gpu::hybrid

#if defined(__SANITIZE_ADDRESS__)
/// MPI libraries keep some memory until the process ends, so leaks are not reported.
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0";
}
#endif
