#include "harness/properties/is_deterministic.hpp"

#include "cases/ptycho/derivative_laws.hpp"
#include "cases/ptycho/gauge_laws.hpp"
#include "cases/ptycho/laws.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::poisson_gradients {

Suite suite() {
  return {.properties = {
              operator_agrees_with_reference(),
              harness::is_deterministic(),
              is_independent_of_partition(),
              is_independent_of_refinement(),
              ignores_unmeasured_pixels(),
              keeps_the_raster_ambiguity<Outputs::sums>(),
              is_independent_of_order(),
              counts_every_position<Outputs::sums>(),
              follows_every_symmetry<Outputs::sums>(),
              has_derivative<NoiseModel::poisson>(),
              balances_object_and_probe(),
          }};
}

}  // namespace rankcheck::cases::poisson_gradients
