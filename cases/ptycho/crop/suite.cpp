#include "harness/properties/is_deterministic.hpp"

#include "cases/ptycho/laws.hpp"
#include "cases/ptycho/position_laws.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::crop {

Suite suite() {
  return {.properties = {
              operator_agrees_with_reference(),
              harness::is_deterministic(),
              is_linear_in_each_array(),
              is_independent_of_partition(),
              takes_each_position_alone<Match::exact>(),
              has_adjoint("has_adjoint_pad", "<crop(x), y> = <x, pad(y)>.", plan_then<"pad">),
          }};
}

}  // namespace rankcheck::cases::crop
