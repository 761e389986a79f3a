#pragma once

#include <cstdint>

#include "gpu/device/cluster.hpp"
#include "gpu/device/element.hpp"

namespace rankcheck::gpu {

/// Calls kernel(i) for 0 <= i < count on the device of a rank, in any order. A kernel is a copyable
/// functor whose call operator is RANKCHECK_HD; different i must not write the same place.
template <class Kernel>
void launch(Cluster& /*cluster*/, int /*rank*/, std::int64_t count, const Kernel& kernel) {
  for (std::int64_t i = 0; i < count; ++i) kernel(i);
}

}  // namespace rankcheck::gpu
