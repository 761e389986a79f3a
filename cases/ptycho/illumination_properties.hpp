#pragma once

#include "harness/check/operation.hpp"

namespace rankcheck::cases {

/// illuminate(o, p) is extract(o) times p in the window, and 0 around it.
[[nodiscard]] harness::Property is_patch_times_probe();

}  // namespace rankcheck::cases
