#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "gpu/device/cuda/streams.hpp"
#include "gpu/device/rank_memory.hpp"
#include "gpu/plan/plan.hpp"

namespace rankcheck::gpu::cuda {

/// A plan to be enqueued as work on streams.
struct PlanCall {
  const plan::Plan& plan;
  /// memory[r]: the memory of rank r.
  std::span<const RankMemory> memory;
  /// placement[r]: the device of rank r, which also determines its stream. Only graphs need it.
  std::span<const int> placement = {};
  /// Called when the work of a rank's stream that comes before its call has been enqueued, and when
  /// that of its call has been. May be null. Graphs do not call them.
  std::function<void(int rank)> entering = {};
  std::function<void(int rank)> left = {};
};

/// Gives a valid plan to the streams, step by step, in an order that records every event before a
/// stream waits for it. Adds no order that the plan does not ask for. Returns before the work is
/// done. Throws DeviceError if the plan waits for an event that is never signalled.
void enqueue(const PlanCall& call, Streams& streams);

}  // namespace rankcheck::gpu::cuda
