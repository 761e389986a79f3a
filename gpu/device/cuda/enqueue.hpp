#pragma once

#include <cstddef>
#include <span>

#include "reference/spec/reduce_op.hpp"
#include "reference/spec/type.hpp"

#include "gpu/device/cuda/streams.hpp"
#include "gpu/plan/plan.hpp"

namespace rankcheck::gpu::cuda {

/// One rank's memory in a call, on its device; null where it has no such buffer.
struct RankMemory {
  std::byte* send = nullptr;
  std::byte* recv = nullptr;
  /// As many elements as the plan asks for.
  std::byte* scratch = nullptr;
  /// One element, where the op is premul_sum.
  const std::byte* scalar = nullptr;
};

/// Hands a valid plan to the streams, step by step, in an order in which every event is recorded
/// before a stream waits for it. Asks for no order that the plan does not ask for, and returns
/// before the work is done. Throws DeviceError where the plan has a wait that nobody ends.
void enqueue(const plan::Plan& plan,
             spec::Type type,
             spec::ReduceOp op,
             std::span<const RankMemory> memory,
             Streams& streams);

}  // namespace rankcheck::gpu::cuda
