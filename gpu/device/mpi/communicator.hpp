#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

#include "gpu/device/mpi/tuning.hpp"

namespace rankcheck::gpu::mpi {

/// A communicator that frees itself, which all its members must do together.
class Communicator {
 public:
  /// Made by the members alone, in this order; the world need not know. Errors return.
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

/// The communicators that calls run on. Those of the first n ranks in order are kept, one for each
/// n and forced algorithm. All others live for one call: processes see different calls, so no rule
/// that drops old ones by age would drop the same ones everywhere.
class Communicators {
 public:
  /// Lasts until the next call of this function. `forced` may be null.
  [[nodiscard]] MPI_Comm get(const std::vector<int>& world_ranks,
                             const Forcing* forced,
                             int segment_bytes);
  /// Frees the one that lives for one call.
  void end_call() { passing_.clear(); }

 private:
  std::map<std::pair<std::size_t, std::string>, Communicator> kept_;
  std::vector<Communicator> passing_;
};

}  // namespace rankcheck::gpu::mpi
