#pragma once

#include <span>

#include "harness/case/family.hpp"

namespace rankcheck::cases {

/// The family of the ptychography operators.
[[nodiscard]] const harness::Family& ptycho_family();

/// The fields of PtychoCase.
[[nodiscard]] std::span<const harness::FamilyField> ptycho_fields();

}  // namespace rankcheck::cases
