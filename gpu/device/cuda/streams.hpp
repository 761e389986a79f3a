#pragma once

#include <cstdint>

#include "gpu/device/source.hpp"

namespace rankcheck::gpu::cuda {

/// The seam between plans and CUDA: a stream for each rank, on the rank's device. The work of one
/// stream is done in order. Only events order the work of different streams.
class Streams {
 public:
  virtual ~Streams() = default;

  /// Enqueues the work on the rank's stream. Sources and destination may be memory of other ranks.
  virtual void combine(int rank, const Combination& what) = 0;
  /// The event happens when all earlier work on the rank's stream is done. A plan records each
  /// event once.
  virtual void record(int rank, std::int32_t event) = 0;
  /// All later work on the rank's stream waits for the event. Waiting for an event that was not
  /// recorded yet has no effect.
  virtual void wait(int rank, std::int32_t event) = 0;

  /// From now on, work on the rank's stream is captured instead of done. The same holds for work on
  /// streams that wait for an event of a captured stream.
  virtual void begin_capture(int rank) = 0;
  /// Ends the capture. The rank's stream must have waited for all captured work. Returns the number
  /// of the captured graph, which contains the addresses of its buffers.
  virtual std::int32_t end_capture(int rank) = 0;
  /// Ends the capture after an error. The captured work is dropped, and new work is done again.
  virtual void abandon_capture(int rank) noexcept = 0;
  /// Enqueues the captured graph on the rank's stream, as one piece of work.
  virtual void replay(int rank, std::int32_t graph) = 0;
  /// Drops the graph. Its number may be used again.
  virtual void drop(std::int32_t graph) = 0;
};

}  // namespace rankcheck::gpu::cuda
