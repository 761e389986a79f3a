#pragma once

#include <string>
#include <string_view>

#include "gpu/device/vendor_library.hpp"

namespace rankcheck::gpu::nccl {

/// Returns search places whose environment names this file as NCCL.
inline SearchPlaces named(const std::string& path) {
  return {.variable = [path](std::string_view name) {
    return name == nccl_library.variable ? path : std::string();
  }};
}

}  // namespace rankcheck::gpu::nccl
