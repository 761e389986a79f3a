#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

#include "gpu/device/mpi/tuning.hpp"

namespace rankcheck::gpu::mpi {

/// The communicator as the word that MPI functions get; see interposer.hpp.
[[nodiscard]] std::intptr_t word_of(MPI_Comm communicator);

/// A communicator that frees itself. All its members must free it together.
class Communicator {
 public:
  /// Creates the communicator of these world ranks, in this order. Only the members take part. MPI
  /// errors on it are returned, not fatal.
  explicit Communicator(const std::vector<int>& world_ranks);
  Communicator(Communicator&& other) noexcept
      : value_(std::exchange(other.value_, MPI_COMM_NULL)) {}
  Communicator& operator=(Communicator&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Communicator();

  [[nodiscard]] MPI_Comm get() const { return value_; }

 private:
  MPI_Comm value_ = MPI_COMM_NULL;
};

/// The communicators for calls. Those of the first n world ranks in order are kept, one for each n
/// and forced algorithm, and a second one for each n, if the default segment size is used. All
/// others live for one call, or until release() if they are held. Processes take part in different
/// calls, so a rule by age would drop different communicators in different processes.
class Communicators {
 public:
  /// Without hold(), the communicator is valid until end_call() or the next get(). `forced` may be
  /// null. `segment_bytes` 0 means the default.
  [[nodiscard]] MPI_Comm get(const std::vector<int>& world_ranks,
                             const Forcing* forced,
                             int segment_bytes);
  /// A second communicator of the same ranks. It is valid as long as the one that get() returned
  /// before.
  [[nodiscard]] MPI_Comm get_second(const std::vector<int>& world_ranks);
  /// Frees the communicators that live for one call.
  void end_call();
  /// Frees all communicators of these ranks.
  void forget(const std::vector<int>& world_ranks);

  /// From hold() to release(), all communicators stay valid, and get() returns one that exists. So
  /// the communicators of several calls can exist before the first call.
  void hold() { holds_ = true; }
  void release();

 private:
  /// A communicator that is not kept, and what it was made for.
  struct Passing {
    std::vector<int> world_ranks;
    std::string label;
    int segment_bytes = 0;
    Communicator communicator;
  };

  [[nodiscard]] static bool keeps(const std::vector<int>& world_ranks, int segment_bytes);
  /// A communicator that exists already. MPI_COMM_NULL if there is none.
  [[nodiscard]] MPI_Comm find(const std::vector<int>& world_ranks,
                              const std::string& label,
                              int segment_bytes) const;
  MPI_Comm add(Passing made);

  std::map<std::pair<std::size_t, std::string>, Communicator> kept_;
  std::vector<Passing> passing_;
  bool holds_ = false;
};

}  // namespace rankcheck::gpu::mpi
