#include "cases/suites/catalogue.hpp"

#include <set>

#include <gtest/gtest.h>

namespace rankcheck::cases {
namespace {

TEST(CatalogueTest, EveryOperationClaimsEachOfItsPropertiesOnce) {
  const harness::Catalogue catalogue = make_catalogue();
  for (const harness::Operation& operation : catalogue.operations()) {
    EXPECT_FALSE(operation.properties.empty()) << operation.contract.name;
    std::set<std::string_view> names;
    for (const harness::Property& each : operation.properties) {
      EXPECT_TRUE(names.insert(each.name).second) << operation.contract.name << ": " << each.name;
    }
  }
}

}  // namespace
}  // namespace rankcheck::cases
