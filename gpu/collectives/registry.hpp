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

/// Returns the first algorithm of the operation that takes the call, or null if there is none. This
/// is the plan::AlgorithmLookup of clusters that perform collectives as plans.
[[nodiscard]] const plan::Algorithm* algorithm_for(std::string_view operation,
                                                   const spec::Call& call,
                                                   const plan::Options& options);

}  // namespace rankcheck::gpu
