#pragma once

#include "harness/case/family.hpp"

namespace rankcheck::cases {

/// The family of the ptychography operators.
[[nodiscard]] const harness::Family& ptycho_family();

}  // namespace rankcheck::cases
