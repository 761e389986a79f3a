#pragma once

#include "harness/run/available_backends.hpp"

namespace rankcheck::cases {

/// Returns the backends of this program.
[[nodiscard]] const harness::run::AvailableBackends& available_backends();

}  // namespace rankcheck::cases
