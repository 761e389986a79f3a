#pragma once

#include <string_view>
#include <vector>

#include "harness/operation.hpp"

/// The only place that sees the references, the implementations and the harness.
namespace rankcheck::cases {

/// What one operation claims.
struct Suite {
  std::vector<harness::Property> properties;
};

struct NamedSuite {
  std::string_view operation;
  Suite suite;
};

/// All suites, sorted by operation. Generated from the folders below cases/collectives.
[[nodiscard]] const std::vector<NamedSuite>& suites();

}  // namespace rankcheck::cases
