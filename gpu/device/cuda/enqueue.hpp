#pragma once

#include <cstddef>
#include <span>

#include "reference/spec/reduce_op.hpp"
#include "reference/spec/type.hpp"

#include "gpu/device/cuda/streams.hpp"
#include "gpu/device/rank_memory.hpp"
#include "gpu/plan/plan.hpp"

namespace rankcheck::gpu::cuda {

/// Gives a valid plan to the streams, step by step, in an order that records every event before a
/// stream waits for it. Adds no order that the plan does not ask for. Returns before the work is
/// done. Throws DeviceError if the plan waits for an event that is never signalled.
void enqueue(const plan::Plan& plan,
             spec::Type type,
             spec::ReduceOp op,
             std::span<const RankMemory> memory,
             Streams& streams);

}  // namespace rankcheck::gpu::cuda
