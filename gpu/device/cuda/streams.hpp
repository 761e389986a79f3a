#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "reference/spec/reduce_op.hpp"
#include "reference/spec/type.hpp"

#include "gpu/device/source.hpp"

namespace rankcheck::gpu::cuda {

/// The seam between plans and CUDA: a stream for each rank, on the rank's device. Work on a stream
/// is done in order, and nothing but events orders the work on two of them.
class Streams {
 public:
  virtual ~Streams() = default;

  /// Enqueues on the rank's stream: combines `count` elements of each source, divides by `divisor`
  /// and writes them to `destination`, which may be one of the sources. Sources and destination may
  /// be memory of other ranks.
  virtual void combine(int rank,
                       spec::Type type,
                       spec::ReduceOp op,
                       std::byte* destination,
                       std::span<const Source> sources,
                       std::int64_t count,
                       int divisor) = 0;
  /// The event happens when all work before it on the rank's stream is done. Each is recorded once
  /// in a plan.
  virtual void record(int rank, std::int32_t event) = 0;
  /// What follows on the rank's stream waits for the event. To wait for one that was not recorded
  /// yet would be to wait for nothing.
  virtual void wait(int rank, std::int32_t event) = 0;
};

}  // namespace rankcheck::gpu::cuda
