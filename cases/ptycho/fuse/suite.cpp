#include "harness/properties/is_deterministic.hpp"

#include "cases/ptycho/laws.hpp"
#include "cases/ptycho/partition_laws.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::fuse {

Suite suite() {
  return {.properties = {
              operator_agrees_with_reference(),
              harness::is_deterministic(),
              is_independent_of_partition(),
              inverts_redistribute(),
          }};
}

}  // namespace rankcheck::cases::fuse
