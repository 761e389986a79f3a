#pragma once

#include <string_view>
#include <vector>

#include "harness/check/operation.hpp"

/// The suites of all operations. Each is a list of the properties that its operation claims.
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
