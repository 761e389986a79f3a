#pragma once

#include <string_view>
#include <vector>

#include "reference/ptycho/field.hpp"
#include "reference/spec/contract.hpp"

namespace rankcheck::reference {

/// An operator's meaning: its arrays and its values.
struct PtychoOperator {
  spec::Contract contract;
  Operator reference;
};

/// All ptychography operators, sorted by name. Generated from the folders beside this file.
[[nodiscard]] const std::vector<PtychoOperator>& ptycho();

}  // namespace rankcheck::reference
