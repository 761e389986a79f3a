#include "harness/properties/is_deterministic.hpp"
#include "harness/properties/ranks_agree_bitwise.hpp"

#include "cases/collectives/agrees_with_reference.hpp"
#include "cases/collectives/composition.hpp"
#include "cases/collectives/groups_at_once.hpp"
#include "cases/collectives/in_place_equals_out_of_place.hpp"
#include "cases/collectives/lists.hpp"
#include "cases/collectives/splits.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::broadcast_list {

Suite suite() {
  return {.properties = {
              agrees_with_reference(),
              in_place_equals_out_of_place(),
              harness::is_deterministic(),
              repeats_with_other_data(),
              keeps_groups_apart(),
              groups_at_once(),
              harness::ranks_agree_bitwise(),
              splits(),
              equals_calls_one_by_one(),
              is_independent_of_packing(),
          }};
}

}  // namespace rankcheck::cases::broadcast_list
