#include "harness/properties/is_deterministic.hpp"

#include "cases/ptycho/gauge_laws.hpp"
#include "cases/ptycho/laws.hpp"
#include "cases/ptycho/position_laws.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::propagate_fresnel_adjoint {

Suite suite() {
  return {.properties = {
              operator_agrees_with_reference(),
              harness::is_deterministic(),
              is_linear_in_each_array(),
              is_independent_of_partition(),
              takes_each_position_alone<Match::bounded>(),
              keeps_symmetries(),
              gains_no_energy(),
              has_adjoint("has_adjoint_propagate_fresnel",
                          "<propagate_fresnel_adjoint(x), y> = <x, propagate_fresnel(y)>.",
                          plan_then<"propagate_fresnel">),
          }};
}

}  // namespace rankcheck::cases::propagate_fresnel_adjoint
