#include "harness/properties/is_deterministic.hpp"

#include "cases/collectives/agrees_with_reference.hpp"
#include "cases/collectives/axis.hpp"
#include "cases/collectives/composition.hpp"
#include "cases/collectives/groups_at_once.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::reduce_axis {

Suite suite() {
  return {.properties = {
              agrees_with_reference(),
              harness::is_deterministic(),
              repeats_with_other_data(),
              keeps_groups_apart(),
              groups_at_once(),
              is_linear(),
              equals_calls_strip_by_strip(),
              equals_reduce_of_one_row(),
          }};
}

}  // namespace rankcheck::cases::reduce_axis
