#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "reference/spec/reduce_op.hpp"
#include "reference/spec/type.hpp"

#include "gpu/device/source.hpp"

namespace rankcheck::gpu::sim {

/// Combines `count` elements of each source in the order given, rounding to the type after each
/// step, divides by `divisor` and writes to `destination`. The destination may be one of the
/// sources, but must not overlap a source otherwise. Types without arithmetic take one source, no
/// scalar and divisor 1.
void combine(spec::Type type,
             spec::ReduceOp op,
             std::byte* destination,
             std::span<const Source> sources,
             std::int64_t count,
             int divisor);

}  // namespace rankcheck::gpu::sim
