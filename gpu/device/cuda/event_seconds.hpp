#pragma once

#include <string>

namespace rankcheck::gpu::cuda {

/// The time that some work took, in seconds.
struct EventSeconds {
  /// The time between two CUDA events around the work.
  double device = 0;
  /// The time by this program's clock, from before the work was enqueued until after it was done.
  double host = 0;

  /// Says why these times are impossible; empty if they are possible.
  [[nodiscard]] std::string why_impossible() const;
};

}  // namespace rankcheck::gpu::cuda
