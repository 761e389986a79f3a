#include <utility>

#include "cases/ptycho/momentum_laws.hpp"
#include "cases/ptycho/step_laws.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::momentum_step {

Suite suite() {
  auto properties = weighted_step_properties();
  properties.push_back(is_epie_with_memory());
  properties.push_back(coasts_at_the_truth());
  return {.properties = std::move(properties)};
}

}  // namespace rankcheck::cases::momentum_step
