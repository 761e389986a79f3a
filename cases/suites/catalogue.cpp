#include "cases/suites/catalogue.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "reference/registry.hpp"

#include "cases/suites/claims.hpp"

namespace rankcheck::cases {

harness::Catalogue make_catalogue() {
  std::vector<harness::Operation> operations;
  for (const spec::Contract* contract : reference::contracts()) {
    operations.push_back({.contract = *contract, .properties = {}});
  }
  for (const auto& family : {claims_of_collectives(), claims_of_operators()}) {
    for (const Claims& claims : family) {
      const auto named = [&](const harness::Operation& each) {
        return each.contract.name == claims.operation;
      };
      const auto found = std::find_if(operations.begin(), operations.end(), named);
      if (found == operations.end()) {
        throw std::logic_error(fmt::format("claims of an unknown operation: {}", claims.operation));
      }
      if (!found->properties.empty()) {
        throw std::logic_error(fmt::format("{} has claims in two rows", claims.operation));
      }
      found->properties = claims.properties;
    }
  }
  return harness::Catalogue(std::move(operations));
}

}  // namespace rankcheck::cases
