#include "harness/properties/is_deterministic.hpp"

#include "cases/ptycho/gauge_laws.hpp"
#include "cases/ptycho/laws.hpp"
#include "cases/ptycho/position_laws.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::propagate_inverse {

Suite suite() {
  return {.properties = {
              operator_agrees_with_reference(),
              harness::is_deterministic(),
              is_linear_in_each_array(),
              is_independent_of_partition(),
              takes_each_position_alone<Match::bounded>(),
              keeps_symmetries(),
              conserves_energy(),
              has_adjoint("has_adjoint_propagate",
                          "<propagate_inverse(x), y> = <x, propagate(y)>.",
                          plan_then<"propagate">),
              is_undone("is_undone_by_propagate",
                        "propagate(propagate_inverse(x)) = x.",
                        plan_then_on_result<"propagate">),
          }};
}

}  // namespace rankcheck::cases::propagate_inverse
