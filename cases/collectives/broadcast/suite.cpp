#include "harness/properties/in_place_equals_out_of_place.hpp"
#include "harness/properties/is_deterministic.hpp"
#include "harness/properties/nearly_equal.hpp"
#include "harness/properties/ranks_agree_bitwise.hpp"
#include "harness/properties/splits.hpp"

#include "cases/collectives/agrees_with_reference.hpp"
#include "cases/collectives/composition.hpp"
#include "cases/registry.hpp"

namespace rankcheck::cases::broadcast {

namespace {

harness::Property equals_scatter_then_all_gather() {
  return {
      .name = "equals_scatter_then_all_gather",
      .summary = "A broadcast is a scatter followed by an all_gather.",
      .applies = applies_exact,
      .adapt = adapt_exact,
      .program =
          [](const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
            const auto n = static_cast<std::size_t>(group_size(c));
            harness::Case scatter = stage_of(c, "scatter_v");
            scatter.counts.resize(n);
            for (std::size_t r = 0; r < n; ++r) {
              scatter.counts[r] = harness::nearly_equal_count(c.count, n, r);
            }
            scatter.count = 0;
            stages = {c, scatter, next_stage_of(scatter, "all_gather_v")};
            stages.back().root = 0;
          },
      .check = expect_last_equals_first,
  };
}

}  // namespace

Suite suite() {
  return {.properties = {
              agrees_with_reference(),
              harness::in_place_equals_out_of_place(),
              harness::is_deterministic(),
              harness::ranks_agree_bitwise(),
              harness::splits(),
              equals_scatter_then_all_gather(),
          }};
}

}  // namespace rankcheck::cases::broadcast
