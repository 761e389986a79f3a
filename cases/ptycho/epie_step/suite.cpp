#include <utility>

#include "cases/ptycho/step_laws.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::epie_step {

Suite suite() {
  auto properties = weighted_step_properties();
  properties.push_back(keeps_the_truth());
  properties.push_back(grows_as_its_light_does());
  return {.properties = std::move(properties)};
}

}  // namespace rankcheck::cases::epie_step
