#include "harness/properties/is_deterministic.hpp"

#include "cases/ptycho/gauge_laws.hpp"
#include "cases/ptycho/laws.hpp"
#include "cases/ptycho/position_laws.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::propagate {

Suite suite() {
  return {.properties = {
              operator_agrees_with_reference(),
              harness::is_deterministic(),
              is_linear_in_each_array(),
              is_independent_of_partition(),
              takes_each_position_alone<Match::bounded>(),
              keeps_symmetries(),
              conserves_energy(),
              has_adjoint("has_adjoint_propagate_inverse",
                          "<propagate(x), y> = <x, propagate_inverse(y)>.",
                          plan_then<"propagate_inverse">),
              is_undone("is_undone_by_propagate_inverse",
                        "propagate_inverse(propagate(x)) = x.",
                        plan_then_on_result<"propagate_inverse">),
          }};
}

}  // namespace rankcheck::cases::propagate
