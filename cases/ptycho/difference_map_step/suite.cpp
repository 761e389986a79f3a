#include <utility>

#include "cases/ptycho/gauge_laws.hpp"
#include "cases/ptycho/step_laws.hpp"
#include "cases/registry.hpp"

namespace rankcheck::cases::difference_map_step {

Suite suite() {
  using harness::Form;
  auto properties = step_properties();
  // Form::ramped is left out: a ramp would turn the exit waves of every position by another phase.
  properties.push_back(is_equivariant<Outputs::states,
                                      Form::turned,
                                      Form::stretched,
                                      Form::twin,
                                      Form::transposed,
                                      Form::mixed,
                                      Form::translated,
                                      Form::reflected,
                                      Form::dark,
                                      Form::brightened>());
  properties.push_back(counts_every_position<Outputs::states>());
  properties.push_back(keeps_the_truth_on_whole_pixels());
  properties.push_back(waves_grow_by_beta());
  properties.push_back(fixed_points_are_solutions());
  return {.properties = std::move(properties)};
}

}  // namespace rankcheck::cases::difference_map_step
