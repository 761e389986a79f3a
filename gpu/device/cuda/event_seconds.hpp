#pragma once

#include <string>

namespace rankcheck::gpu::cuda {

/// How long some work took, in seconds.
struct EventSeconds {
  /// Between CUDA's events around it.
  double device = 0;
  /// By the clock of this program, from before it was enqueued until after it was done.
  double host = 0;

  /// Why no work can have taken so long, in words; empty where some can.
  [[nodiscard]] std::string why_impossible() const;
};

}  // namespace rankcheck::gpu::cuda
