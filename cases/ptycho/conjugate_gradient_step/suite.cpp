#include <utility>

#include "cases/ptycho/conjugate_gradient_laws.hpp"
#include "cases/ptycho/step_laws.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::conjugate_gradient_step {

Suite suite() {
  auto properties = conjugate_gradient_properties<NoiseModel::gaussian>();
  properties.push_back(grows_as_its_light_does());
  return {.properties = std::move(properties)};
}

}  // namespace rankcheck::cases::conjugate_gradient_step
