#include "harness/properties/is_deterministic.hpp"

#include "cases/ptycho/laws.hpp"
#include "cases/ptycho/position_laws.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::pad {

Suite suite() {
  return {.properties = {
              operator_agrees_with_reference(),
              harness::is_deterministic(),
              is_linear_in_each_array(),
              is_independent_of_partition(),
              takes_each_position_alone<Match::exact>(),
              has_adjoint("has_adjoint_crop", "<pad(x), y> = <x, crop(y)>.", plan_then<"crop">),
              is_undone("is_undone_by_crop", "crop(pad(x)) = x.", plan_then_on_result<"crop">),
          }};
}

}  // namespace rankcheck::cases::pad
