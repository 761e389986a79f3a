#include "harness/properties/is_deterministic.hpp"

#include "cases/collectives/agrees_with_reference.hpp"
#include "cases/collectives/groups_at_once.hpp"
#include "cases/collectives/in_place_equals_out_of_place.hpp"
#include "cases/collectives/splits.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::scatter_v {

Suite suite() {
  return {.properties = {
              agrees_with_reference(),
              in_place_equals_out_of_place(),
              harness::is_deterministic(),
              repeats_with_other_data(),
              keeps_groups_apart(),
              groups_at_once(),
              splits(),
          }};
}

}  // namespace rankcheck::cases::scatter_v
