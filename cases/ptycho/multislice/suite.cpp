#include "harness/properties/is_deterministic.hpp"

#include "cases/families/ptycho/symmetry.hpp"
#include "cases/ptycho/gauge_laws.hpp"
#include "cases/ptycho/laws.hpp"
#include "cases/ptycho/multislice_laws.hpp"
#include "cases/ptycho/position_laws.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::multislice {

Suite suite() {
  return {.properties = {
              operator_agrees_with_reference(),
              harness::is_deterministic(),
              is_linear_in_each_array(),
              is_independent_of_partition(),
              takes_each_position_alone<Match::bounded>(),
              is_equivariant<Outputs::sums, Symmetry::transposed, Symmetry::translated>(),
              is_illuminate_for_one_slice(),
              is_product_without_distance(),
              has_degree_of_its_slices(),
              has_adjoint_in_each_slice(),
              has_adjoint("has_adjoint_in_probe",
                          "<multislice(o, p), y> = <p, multislice_adjoint_probe(y, o)>.",
                          plan_then<"multislice_adjoint_probe">),
          }};
}

}  // namespace rankcheck::cases::multislice
