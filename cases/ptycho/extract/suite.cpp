#include "harness/properties/is_deterministic.hpp"

#include "cases/families/ptycho/symmetry.hpp"
#include "cases/ptycho/gauge_laws.hpp"
#include "cases/ptycho/laws.hpp"
#include "cases/ptycho/position_laws.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::extract {

Suite suite() {
  return {.properties = {
              operator_agrees_with_reference(),
              harness::is_deterministic(),
              is_linear_in_each_array(),
              is_independent_of_partition(),
              is_equivariant<Outputs::sums, Symmetry::transposed, Symmetry::translated>(),
              takes_each_position_alone<Match::exact>(),
              is_exact_on_bilinear_objects(),
              has_adjoint(
                  "has_adjoint_insert", "<extract(o), y> = <o, insert(y)>.", plan_then<"insert">),
          }};
}

}  // namespace rankcheck::cases::extract
