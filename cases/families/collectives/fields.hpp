#pragma once

#include <span>

#include "harness/case/family.hpp"

namespace rankcheck::cases {

/// The fields of CollectiveCase.
[[nodiscard]] std::span<const harness::FamilyField> collective_fields();

}  // namespace rankcheck::cases
