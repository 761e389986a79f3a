#include "harness/properties/is_deterministic.hpp"

#include "cases/ptycho/gauge_laws.hpp"
#include "cases/ptycho/laws.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::poisson_cost {

Suite suite() {
  return {.properties = {
              operator_agrees_with_reference(),
              agrees_at_the_truth(),
              harness::is_deterministic(),
              is_independent_of_partition(),
              is_independent_of_refinement(),
              ignores_unmeasured_pixels(),
              keeps_symmetries(),
              is_independent_of_order(),
              counts_every_position<Outputs::sums>(),
          }};
}

}  // namespace rankcheck::cases::poisson_cost
