#pragma once

#include <cstddef>
#include <vector>

#include "gpu/device/nccl/devices.hpp"
#include "gpu/device/nccl/library.hpp"

namespace rankcheck::gpu::nccl {

/// One rank's part in a call beside the call under test.
struct Companion {
  int slot = 0;
  ncclComm_t communicator = nullptr;
  int rank = 0;
  int ranks = 1;
  /// Whether the call is ncclAllGather. Otherwise it is ncclAllReduce.
  bool gathers = true;
  /// One number to send, followed by the numbers to receive.
  std::byte* memory = nullptr;
};

/// Calls that are made in one group with the call under test, on the same communicators. They
/// gather or add one integer of each rank, so their results are known without a reference.
class Companions {
 public:
  /// `nccl` and `devices` must outlive the companions.
  Companions(const Library& nccl, Devices& devices) : nccl_(nccl), devices_(devices) {}

  /// Forgets the companions of earlier calls, and gives these ones memory and numbers. The streams
  /// of their slots must have no work.
  void make_ready(std::vector<Companion> wanted);
  /// Makes the companion's call on the communicator, in the open group.
  void call(ncclComm_t communicator) const;
  /// Throws std::runtime_error if a result is wrong. The work of the streams must be done.
  void check() const;

 private:
  const Library& nccl_;
  Devices& devices_;
  std::vector<Companion> all_;
};

}  // namespace rankcheck::gpu::nccl
