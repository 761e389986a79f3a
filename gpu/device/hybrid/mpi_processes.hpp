#pragma once

#include <string>

#include "gpu/device/hybrid/processes.hpp"

namespace rankcheck::gpu::hybrid {

/// The processes of an MPI world, from MPI_Init to MPI_Finalize. A process may have only one
/// object. Messages are MPI's sends and receives. Functions throw mpi::Error.
class MpiProcesses final : public Processes {
 public:
  MpiProcesses();
  MpiProcesses(const MpiProcesses&) = delete;
  MpiProcesses& operator=(const MpiProcesses&) = delete;
  ~MpiProcesses() override;

  /// Ends all processes of the world at once with this exit status. For a process that cannot go on
  /// while others may wait for it.
  [[noreturn]] static void abort(int status);
  /// The library's description of itself, on one line.
  [[nodiscard]] static std::string version();
  /// Whether the library says that it takes addresses of CUDA devices.
  [[nodiscard]] static bool takes_cuda_memory();

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  void send(int process, const std::byte* data, std::int64_t bytes) override;
  void receive(int process, std::byte* data, std::int64_t bytes) override;

 private:
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace rankcheck::gpu::hybrid
