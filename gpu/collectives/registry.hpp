#pragma once

#include <string_view>
#include <vector>

#include "gpu/plan/algorithm.hpp"

namespace rankcheck::gpu {

/// An algorithm and the operation that it performs.
struct Implementation {
  std::string_view operation;
  plan::Algorithm algorithm;
};

/// All plan algorithms, sorted by operation and name. CMake generates the list from the folders
/// beside this file.
[[nodiscard]] const std::vector<Implementation>& implementations();

}  // namespace rankcheck::gpu
