#pragma once

#include <string_view>
#include <vector>

#include "reference/ptycho/bounded_array.hpp"
#include "reference/spec/operator.hpp"

namespace rankcheck::reference {

/// What an operator means: its arrays and their values.
struct PtychoOperator {
  spec::Contract contract;
  Operator reference;
};

/// All ptychography operators, sorted by name. Generated from the folders beside this file.
[[nodiscard]] const std::vector<PtychoOperator>& ptycho();

}  // namespace rankcheck::reference
