#pragma once

#include "harness/family.hpp"

namespace rankcheck::cases {

/// The family of the collectives.
[[nodiscard]] const harness::Family& collectives_family();

}  // namespace rankcheck::cases
