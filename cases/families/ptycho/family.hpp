#pragma once

#include "harness/family.hpp"

namespace rankcheck::cases {

/// The family of the ptychography operators.
[[nodiscard]] const harness::Family& ptycho_family();

}  // namespace rankcheck::cases
