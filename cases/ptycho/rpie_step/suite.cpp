#include <utility>

#include "cases/ptycho/gauge_laws.hpp"
#include "cases/ptycho/step_laws.hpp"
#include "cases/registry.hpp"

namespace rankcheck::cases::rpie_step {

Suite suite() {
  using harness::Form;
  auto properties = step_properties();
  properties.push_back(is_equivariant<Outputs::states,
                                      Form::turned,
                                      Form::stretched,
                                      Form::twin,
                                      Form::transposed,
                                      Form::mixed,
                                      Form::translated>());
  properties.push_back(counts_every_position<Outputs::states>());
  properties.push_back(keeps_the_truth());
  return {.properties = std::move(properties)};
}

}  // namespace rankcheck::cases::rpie_step
