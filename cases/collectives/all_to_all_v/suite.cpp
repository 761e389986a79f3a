#include "reference/spec/to_size.hpp"

#include "harness/properties/is_deterministic.hpp"

#include "cases/collectives/agrees_with_reference.hpp"
#include "cases/collectives/composition.hpp"
#include "cases/collectives/groups_at_once.hpp"
#include "cases/collectives/in_place_equals_out_of_place.hpp"
#include "cases/collectives/splits.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::all_to_all_v {

namespace {

harness::Property returns_by_the_transpose() {
  return returns(
      "returns_by_the_transpose",
      "An all_to_all_v followed by one with transposed counts returns the data.",
      [](const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
        stages.assign(2, c);
        stages[1].input = harness::InputKind::previous;
        const auto n = spec::to_size(group_size(c));
        for (std::size_t i = 0; i < n * n; ++i) {
          stages[1].counts[i] = c.counts[(i % n) * n + i / n];
        }
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
              returns_by_the_transpose(),
          }};
}

}  // namespace rankcheck::cases::all_to_all_v
