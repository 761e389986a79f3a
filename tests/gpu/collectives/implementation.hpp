#pragma once

#include <ostream>

#include "gpu/collectives/registry.hpp"

namespace rankcheck::gpu {

/// Prints a name for GoogleTest, which otherwise prints addresses.
inline void PrintTo(const Implementation& implementation, std::ostream* out) {
  *out << implementation.operation << " with " << implementation.algorithm.name;
}

}  // namespace rankcheck::gpu
