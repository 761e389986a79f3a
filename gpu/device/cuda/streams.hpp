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

  /// From now on work on the rank's stream is kept instead of done, and so is that on streams that
  /// wait for an event of a stream whose work is kept.
  virtual void begin_capture(int rank) = 0;
  /// Ends that; the rank must have waited for all that is kept. Returns the number of what was
  /// kept. It remembers its buffers' addresses.
  virtual std::int32_t end_capture(int rank) = 0;
  /// Ends it after an error: what was kept is forgotten, and work is done again.
  virtual void abandon_capture(int rank) noexcept = 0;
  /// Enqueues all that was kept on the rank's stream, as one piece of work.
  virtual void replay(int rank, std::int32_t graph) = 0;
  /// Forgets it; its number may be used again.
  virtual void drop(std::int32_t graph) = 0;
};

}  // namespace rankcheck::gpu::cuda
