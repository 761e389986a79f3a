#pragma once

#include <string_view>
#include <vector>

#include "harness/operation.hpp"

/// The only place that sees the references, the implementations and the harness.
namespace rankcheck::cases {

/// The properties that one operation claims.
struct Suite {
  std::vector<harness::Property> properties;
};

struct NamedSuite {
  std::string_view operation;
  Suite suite;
};

/// Returns all suites, sorted by operation. CMake generates the list from the folders below
/// cases/collectives and cases/ptycho.
[[nodiscard]] const std::vector<NamedSuite>& suites();

}  // namespace rankcheck::cases
