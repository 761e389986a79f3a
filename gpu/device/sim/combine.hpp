#pragma once

#include "gpu/device/source.hpp"

namespace rankcheck::gpu::sim {

/// Rounds to the type after each step. Types without arithmetic take one source, no scalar and
/// divisor 1.
void combine(const Combination& what);

}  // namespace rankcheck::gpu::sim
