#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "harness/check/operation.hpp"

/// What operations claim: the properties that are checked.
namespace rankcheck::cases {

using Properties = std::vector<harness::Property>;

/// The properties that one operation claims.
struct Claims {
  std::string_view operation;
  Properties properties;
};

/// Returns the properties and `more`.
[[nodiscard]] inline Properties with(Properties properties,
                                     std::initializer_list<harness::Property> more) {
  properties.insert(properties.end(), more);
  return properties;
}

/// Each family's claims are in cases/<family>/claims.cpp.
[[nodiscard]] std::vector<Claims> claims_of_collectives();
[[nodiscard]] std::vector<Claims> claims_of_operators();

}  // namespace rankcheck::cases
