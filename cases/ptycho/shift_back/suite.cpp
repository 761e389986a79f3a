#include "harness/properties/is_deterministic.hpp"

#include "cases/families/ptycho/symmetry.hpp"
#include "cases/ptycho/gauge_laws.hpp"
#include "cases/ptycho/laws.hpp"
#include "cases/ptycho/position_laws.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::shift_back {

Suite suite() {
  return {.properties = {
              operator_agrees_with_reference(),
              harness::is_deterministic(),
              is_linear_in_each_array(),
              is_independent_of_partition(),
              takes_each_position_alone<Match::bounded>(),
              is_equivariant<Outputs::sums, Symmetry::transposed>(),
              conserves_energy(),
              has_adjoint(
                  "has_adjoint_shift", "<shift_back(x), y> = <x, shift(y)>.", plan_then<"shift">),
              is_undone(
                  "is_undone_by_shift", "shift(shift_back(x)) = x.", plan_then_on_result<"shift">),
          }};
}

}  // namespace rankcheck::cases::shift_back
