#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "reference/spec/reduce_op.hpp"
#include "reference/spec/type.hpp"

namespace rankcheck::gpu {

/// Elements to combine, at any alignment. The device that combines them must be able to read them.
struct Source {
  const std::byte* data = nullptr;
  /// Every element is multiplied by this one element, unless it is null.
  const std::byte* scalar = nullptr;
};

/// Combines `count` elements of each source in the order given, divides by `divisor` and writes to
/// `destination`. The destination may be one of the sources, but must not overlap a source
/// otherwise.
struct Combination {
  spec::Type type = spec::Type::f32;
  spec::ReduceOp op = spec::ReduceOp::none;
  std::byte* destination = nullptr;
  std::span<const Source> sources;
  std::int64_t count = 0;
  int divisor = 1;
};

}  // namespace rankcheck::gpu
