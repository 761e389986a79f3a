#include "harness/properties/is_deterministic.hpp"

#include "cases/ptycho/laws.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::redistribute {

Suite suite() {
  return {.properties = {
              operator_agrees_with_reference(),
              harness::is_deterministic(),
              is_independent_of_partition(),
          }};
}

}  // namespace rankcheck::cases::redistribute
