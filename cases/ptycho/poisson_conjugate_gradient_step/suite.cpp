#include "cases/ptycho/conjugate_gradient_laws.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::poisson_conjugate_gradient_step {

Suite suite() {
  return {.properties = conjugate_gradient_properties<NoiseModel::poisson>()};
}

}  // namespace rankcheck::cases::poisson_conjugate_gradient_step
