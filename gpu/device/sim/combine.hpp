#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "reference/spec/reduce_op.hpp"
#include "reference/spec/type.hpp"

#include "gpu/device/source.hpp"

namespace rankcheck::gpu::sim {

/// Combines `count` elements of each source, in the order given and rounding to the type after each
/// step, divides by `divisor` and writes them to `destination`, which may be one of the sources but
/// not overlap one otherwise. Types that are only moved take one source, no scalar and divisor 1.
void combine(spec::Type type,
             spec::ReduceOp op,
             std::byte* destination,
             std::span<const Source> sources,
             std::int64_t count,
             int divisor);

}  // namespace rankcheck::gpu::sim
