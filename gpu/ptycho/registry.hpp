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

/// All algorithms of operators, sorted by operation and name.
[[nodiscard]] const std::vector<OperatorImplementation>& operators();

/// The algorithms that have a file of their own, <op>/<algorithm>.cpp. CMake generates the list.
[[nodiscard]] const std::vector<OperatorImplementation>& algorithms_of_folders();
/// The algorithms of operations that differ in one parameter, from passes/, exchange/ and solvers/.
[[nodiscard]] std::vector<OperatorImplementation> algorithms_of_transforms();
[[nodiscard]] std::vector<OperatorImplementation> algorithms_of_costs();
[[nodiscard]] std::vector<OperatorImplementation> algorithms_of_illumination();
[[nodiscard]] std::vector<OperatorImplementation> algorithms_of_exchanges();
[[nodiscard]] std::vector<OperatorImplementation> algorithms_of_steps();

}  // namespace rankcheck::gpu
