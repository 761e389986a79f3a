#include "harness/properties/in_place_equals_out_of_place.hpp"
#include "harness/properties/is_deterministic.hpp"
#include "harness/properties/rank_permutation.hpp"
#include "harness/properties/splits.hpp"

#include "cases/collectives/agrees_with_reference.hpp"
#include "cases/collectives/composition.hpp"
#include "cases/registry.hpp"

namespace rankcheck::cases::gather {

Suite suite() {
  return {.properties = {
              agrees_with_reference(),
              harness::in_place_equals_out_of_place(),
              harness::is_deterministic(),
              repeats_with_other_data(),
              keeps_groups_apart(),
              harness::rank_permutation(),
              harness::splits(),
              inverts_scatter(),
          }};
}

}  // namespace rankcheck::cases::gather
