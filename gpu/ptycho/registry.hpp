#pragma once

#include <string_view>
#include <vector>

#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu {

/// An algorithm and the operator that it computes.
struct OperatorImplementation {
  std::string_view operation;
  Operator algorithm;
};

/// All algorithms of operators, sorted by operation and name. CMake generates the list from the
/// folders beside this file.
[[nodiscard]] const std::vector<OperatorImplementation>& operators();

}  // namespace rankcheck::gpu
