#pragma once

#include <cstddef>

namespace rankcheck::gpu {

/// Elements to combine, at any alignment. The device that combines them must be able to read them.
struct Source {
  const std::byte* data = nullptr;
  /// Every element is multiplied by this one element, unless it is null.
  const std::byte* scalar = nullptr;
};

}  // namespace rankcheck::gpu
