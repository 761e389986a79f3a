#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "harness/backend.hpp"

namespace rankcheck::cases {

/// Returns the built-in backends, in the order of reports.
[[nodiscard]] std::span<const harness::BackendEntry> backends();

}  // namespace rankcheck::cases
