#include <utility>

#include "cases/ptycho/step_laws.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::rpie_step {

Suite suite() {
  auto properties = weighted_step_properties();
  properties.push_back(keeps_the_truth());
  properties.push_back(grows_as_its_light_does());
  properties.push_back(is_epie_with_other_divisors());
  return {.properties = std::move(properties)};
}

}  // namespace rankcheck::cases::rpie_step
