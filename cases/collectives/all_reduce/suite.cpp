#include "harness/properties/is_deterministic.hpp"
#include "harness/properties/ranks_agree_bitwise.hpp"

#include "cases/collectives/agrees_with_reference.hpp"
#include "cases/collectives/composition.hpp"
#include "cases/collectives/groups_at_once.hpp"
#include "cases/collectives/in_place_equals_out_of_place.hpp"
#include "cases/collectives/rank_permutation.hpp"
#include "cases/collectives/splits.hpp"
#include "cases/families/collectives/case.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::all_reduce {

namespace {

harness::Property equals_reduce_then_broadcast() {
  return composes(
      "equals_reduce_then_broadcast",
      "An all_reduce is a reduce followed by a broadcast.",
      [](const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
        harness::Case reduce = stage_of(c, "reduce");
        collective(reduce).root =
            static_cast<int>(c.data_seed % static_cast<std::uint64_t>(group_size(c)));
        harness::Case broadcast = next_stage_of(reduce, "broadcast");
        collective(broadcast).op = spec::ReduceOp::none;
        stages = {c, reduce, broadcast};
      });
}

harness::Property equals_reduce_scatter_then_all_gather() {
  return composes(
      "equals_reduce_scatter_then_all_gather",
      "An all_reduce is a reduce_scatter followed by an all_gather.",
      [](const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
        harness::Case scatter = in_parts(stage_of(c, "reduce_scatter_v"));
        harness::Case gather = next_stage_of(scatter, "all_gather_v");
        collective(gather).op = spec::ReduceOp::none;
        stages = {c, scatter, gather};
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
              rank_permutation(),
              splits(),
              is_linear(),
              equals_reduce_then_broadcast(),
              equals_reduce_scatter_then_all_gather(),
          }};
}

}  // namespace rankcheck::cases::all_reduce
