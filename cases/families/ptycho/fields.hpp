#pragma once

#include <span>

#include "harness/case/family.hpp"

namespace rankcheck::cases {

/// The fields of PtychoCase.
[[nodiscard]] std::span<const harness::FamilyField> ptycho_fields();

}  // namespace rankcheck::cases
