#pragma once

#include "harness/case/family.hpp"

namespace rankcheck::cases {

/// The family of the collectives.
[[nodiscard]] const harness::Family& collectives_family();

}  // namespace rankcheck::cases
