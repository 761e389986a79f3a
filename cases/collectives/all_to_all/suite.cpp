#include "harness/properties/is_deterministic.hpp"

#include "cases/collectives/agrees_with_reference.hpp"
#include "cases/collectives/composition.hpp"
#include "cases/collectives/groups_at_once.hpp"
#include "cases/collectives/in_place_equals_out_of_place.hpp"
#include "cases/collectives/splits.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::all_to_all {

namespace {

harness::Property is_an_involution() {
  return returns(
      "is_an_involution",
      "Two all_to_all calls in a row return the original data.",
      [](const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
        stages.assign(2, c);
        stages[1].input = harness::InputKind::previous;
      });
}

}  // namespace

Suite suite() {
  return {.properties = {
              agrees_with_reference(),
              in_place_equals_out_of_place(),
              harness::is_deterministic(),
              repeats_with_other_data(),
              keeps_groups_apart(),
              groups_at_once(),
              splits(),
              is_an_involution(),
          }};
}

}  // namespace rankcheck::cases::all_to_all
