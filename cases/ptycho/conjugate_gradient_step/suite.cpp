#include <utility>

#include "cases/ptycho/gauge_laws.hpp"
#include "cases/ptycho/step_laws.hpp"
#include "cases/registry.hpp"

namespace rankcheck::cases::conjugate_gradient_step {

Suite suite() {
  using harness::Form;
  auto properties = step_properties();
  // A gradient is no step by itself: it shrinks where the object is stretched.
  properties.push_back(is_equivariant<Outputs::states,
                                      Form::turned,
                                      Form::twin,
                                      Form::transposed,
                                      Form::mixed,
                                      Form::translated,
                                      Form::ramped,
                                      Form::reflected,
                                      Form::dark>());
  properties.push_back(keeps_the_truth());
  properties.push_back(never_raises_the_cost());
  properties.push_back(goes_along_its_directions());
  return {.properties = std::move(properties)};
}

}  // namespace rankcheck::cases::conjugate_gradient_step
