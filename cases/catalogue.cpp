#include "cases/catalogue.hpp"

#include <string>

#include "reference/collectives/registry.hpp"

#include "cases/registry.hpp"

namespace rankcheck::cases {

harness::Catalogue make_catalogue() {
  std::vector<harness::Operation> operations;
  for (const reference::Collective& collective : reference::collectives()) {
    harness::Operation operation{.contract = collective.contract, .properties = {}};
    for (const NamedSuite& each : suites()) {
      if (each.operation == collective.contract.name) operation.properties = each.suite.properties;
    }
    operations.push_back(std::move(operation));
  }
  return harness::Catalogue(std::move(operations));
}

}  // namespace rankcheck::cases
