#include "harness/properties/is_deterministic.hpp"

#include "cases/ptycho/derivative_laws.hpp"
#include "cases/ptycho/gauge_laws.hpp"
#include "cases/ptycho/laws.hpp"
#include "cases/registry.hpp"

namespace rankcheck::cases::gaussian_gradients {

Suite suite() {
  using harness::Form;
  return {.properties = {
              operator_agrees_with_reference(),
              harness::is_deterministic(),
              is_independent_of_partition(),
              is_independent_of_order(),
              counts_every_position<Outputs::sums>(),
              is_equivariant<Outputs::sums,
                             Form::turned,
                             Form::stretched,
                             Form::twin,
                             Form::transposed,
                             Form::mixed,
                             Form::translated>(),
              has_derivative<NoiseModel::gaussian>(),
              balances_object_and_probe(),
          }};
}

}  // namespace rankcheck::cases::gaussian_gradients
