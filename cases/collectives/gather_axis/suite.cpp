#include "harness/properties/is_deterministic.hpp"

#include "cases/collectives/agrees_with_reference.hpp"
#include "cases/collectives/axis.hpp"
#include "cases/collectives/groups_at_once.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::gather_axis {

Suite suite() {
  return {.properties = {
              agrees_with_reference(),
              harness::is_deterministic(),
              repeats_with_other_data(),
              keeps_groups_apart(),
              groups_at_once(),
              equals_calls_strip_by_strip(),
              equals_gather_of_blocks(),
          }};
}

}  // namespace rankcheck::cases::gather_axis
