#include "harness/properties/is_deterministic.hpp"

#include "cases/collectives/agrees_with_reference.hpp"
#include "cases/collectives/composition.hpp"
#include "cases/collectives/groups_at_once.hpp"
#include "cases/collectives/in_place_equals_out_of_place.hpp"
#include "cases/collectives/rank_permutation.hpp"
#include "cases/collectives/splits.hpp"
#include "cases/families/collectives/case.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::reduce_scatter {

namespace {

harness::Property equals_reduce_then_scatter() {
  return composes(
      "equals_reduce_then_scatter",
      "A reduce_scatter is a reduce followed by a scatter.",
      [](const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
        harness::Case reduce = stage_of(c, "reduce");
        reduce.count = c.count * group_size(c);
        harness::Case scatter = next_stage_of(c, "scatter");
        collective(scatter).op = spec::ReduceOp::none;
        stages = {c, reduce, scatter};
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
              rank_permutation(),
              splits(),
              is_linear(),
              equals_reduce_then_scatter(),
          }};
}

}  // namespace rankcheck::cases::reduce_scatter
