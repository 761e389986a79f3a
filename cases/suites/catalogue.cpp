#include "cases/suites/catalogue.hpp"

#include <string>

#include "reference/registry.hpp"

#include "cases/suites/registry.hpp"

namespace rankcheck::cases {

harness::Catalogue make_catalogue() {
  std::vector<harness::Operation> operations;
  for (const spec::Contract* contract : reference::contracts()) {
    harness::Operation operation{.contract = *contract, .properties = {}};
    for (const NamedSuite& each : suites()) {
      if (each.operation == contract->name) operation.properties = each.suite.properties;
    }
    operations.push_back(std::move(operation));
  }
  return harness::Catalogue(std::move(operations));
}

}  // namespace rankcheck::cases
