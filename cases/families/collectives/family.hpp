#pragma once

#include <span>

#include "harness/case/family.hpp"

namespace rankcheck::cases {

/// The family of the collectives.
[[nodiscard]] const harness::Family& collectives_family();

/// The fields of CollectiveCase.
[[nodiscard]] std::span<const harness::FamilyField> collective_fields();

}  // namespace rankcheck::cases
