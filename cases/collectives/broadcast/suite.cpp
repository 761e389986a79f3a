#include "harness/properties/is_deterministic.hpp"
#include "harness/properties/ranks_agree_bitwise.hpp"

#include "cases/collectives/agrees_with_reference.hpp"
#include "cases/collectives/composition.hpp"
#include "cases/collectives/groups_at_once.hpp"
#include "cases/collectives/in_place_equals_out_of_place.hpp"
#include "cases/collectives/splits.hpp"
#include "cases/families/collectives/case.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::broadcast {

namespace {

harness::Property equals_scatter_then_all_gather() {
  return composes(
      "equals_scatter_then_all_gather",
      "A broadcast is a scatter followed by an all_gather.",
      [](const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
        harness::Case scatter = in_parts(stage_of(c, "scatter_v"));
        stages = {c, scatter, next_stage_of(scatter, "all_gather_v")};
        collective(stages.back()).root = 0;
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
              harness::ranks_agree_bitwise(),
              splits(),
              equals_scatter_then_all_gather(),
          }};
}

}  // namespace rankcheck::cases::broadcast
