#pragma once

#include <cstddef>

namespace rankcheck::gpu {

/// Elements to combine, at any alignment, readable for the device that combines them.
struct Source {
  const std::byte* data = nullptr;
  /// One element that every element is multiplied by, or null.
  const std::byte* scalar = nullptr;
};

}  // namespace rankcheck::gpu
