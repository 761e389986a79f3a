#include "harness/properties/is_deterministic.hpp"

#include "cases/families/ptycho/symmetry.hpp"
#include "cases/ptycho/gauge_laws.hpp"
#include "cases/ptycho/laws.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::multislice_adjoint_probe {

Suite suite() {
  return {.properties = {
              operator_agrees_with_reference(),
              harness::is_deterministic(),
              is_linear_in_each_array(),
              is_independent_of_partition(),
              is_independent_of_refinement(),
              is_equivariant<Outputs::sums, Symmetry::transposed, Symmetry::translated>(),
              is_independent_of_order(),
              counts_every_position<Outputs::sums>(),
          }};
}

}  // namespace rankcheck::cases::multislice_adjoint_probe
