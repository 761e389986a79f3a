#pragma once

#include <cstddef>

#include "gpu/plan/plan.hpp"

namespace rankcheck::gpu {

/// One rank's memory in a call, on its device. A pointer is null if the rank has no such buffer, or
/// if another process hosts the rank.
struct RankMemory {
  std::byte* send = nullptr;
  std::byte* recv = nullptr;
  /// As many elements as the plan requests.
  std::byte* scratch = nullptr;
  /// One element if the op is premul_sum.
  const std::byte* scalar = nullptr;

  /// The start of one of the buffers.
  [[nodiscard]] std::byte* begin(plan::Buffer buffer) const {
    switch (buffer) {
      case plan::Buffer::send:
        return send;
      case plan::Buffer::recv:
        return recv;
      case plan::Buffer::scratch:
        return scratch;
    }
    return nullptr;
  }
};

}  // namespace rankcheck::gpu
