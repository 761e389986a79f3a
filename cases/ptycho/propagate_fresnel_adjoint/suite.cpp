#include "harness/properties/is_deterministic.hpp"

#include "cases/ptycho/laws.hpp"
#include "cases/registry.hpp"

namespace rankcheck::cases::propagate_fresnel_adjoint {

Suite suite() {
  return {.properties = {
              operator_agrees_with_reference(),
              harness::is_deterministic(),
              is_linear_in_each_array(),
              is_independent_of_partition(),
              gains_no_energy(),
              has_adjoint("has_adjoint_propagate_fresnel",
                          "<propagate_fresnel_adjoint(x), y> = <x, propagate_fresnel(y)>.",
                          [](const spec::Contract&,
                             const harness::Case& c,
                             std::vector<harness::Case>& stages) {
                            stages.assign(2, c);
                            stages[1].operation = "propagate_fresnel";
                            stages[1].algorithm.clear();
                          }),
          }};
}

}  // namespace rankcheck::cases::propagate_fresnel_adjoint
