#include <utility>

#include "cases/ptycho/gauge_laws.hpp"
#include "cases/ptycho/step_laws.hpp"
#include "cases/registry.hpp"

namespace rankcheck::cases::lsqml_step {

Suite suite() {
  using harness::Form;
  auto properties = step_properties();
  // Form::mixed is left out, because mode 0 alone determines the step lengths.
  properties.push_back(is_equivariant<Outputs::states,
                                      Form::turned,
                                      Form::stretched,
                                      Form::twin,
                                      Form::transposed,
                                      Form::translated,
                                      Form::ramped,
                                      Form::reflected,
                                      Form::dark,
                                      Form::brightened>());
  properties.push_back(counts_every_position<Outputs::states>());
  properties.push_back(keeps_the_truth_along_its_directions());
  properties.push_back(moves_no_more_than_came_back());
  return {.properties = std::move(properties)};
}

}  // namespace rankcheck::cases::lsqml_step
