#pragma once

#include <algorithm>
#include <ostream>
#include <string_view>

#include "reference/registry.hpp"

#include "gpu/collectives/registry.hpp"
#include "gpu/plan/builder.hpp"

namespace rankcheck::gpu {

/// Prints a name for GoogleTest, which otherwise prints addresses.
inline void PrintTo(const Implementation& implementation, std::ostream* out) {
  *out << implementation.operation << " with " << implementation.algorithm.name;
}

/// The implementation must exist.
inline const Implementation& implementation_named(std::string_view operation,
                                                  std::string_view algorithm) {
  return *std::find_if(implementations().begin(), implementations().end(), [&](const auto& each) {
    return each.operation == operation && each.algorithm.name == algorithm;
  });
}

inline plan::Plan plan_of(const Implementation& implementation,
                          const spec::Call& call,
                          const plan::Options& options = {}) {
  plan::Plan result;
  plan::Builder builder;
  builder.begin(result, reference::contract_named(implementation.operation), call, options);
  implementation.algorithm.plan(builder);
  return result;
}

}  // namespace rankcheck::gpu
