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

namespace rankcheck::cases::all_gather {

namespace {

harness::Property equals_gather_then_broadcast() {
  return composes(
      "equals_gather_then_broadcast",
      "An all_gather is a gather followed by a broadcast.",
      [](const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
        harness::Case gather = stage_of(c, "gather");
        collective(gather).root =
            static_cast<int>(c.data_seed % static_cast<std::uint64_t>(group_size(c)));
        harness::Case broadcast = next_stage_of(gather, "broadcast");
        broadcast.count = c.count * group_size(c);
        stages = {c, gather, broadcast};
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
              equals_gather_then_broadcast(),
          }};
}

}  // namespace rankcheck::cases::all_gather
