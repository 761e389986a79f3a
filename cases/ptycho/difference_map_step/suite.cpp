#include <utility>

#include "cases/families/ptycho/symmetry.hpp"
#include "cases/ptycho/difference_map_laws.hpp"
#include "cases/ptycho/gauge_laws.hpp"
#include "cases/ptycho/step_laws.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::difference_map_step {

Suite suite() {
  auto properties = step_properties();
  // Symmetry::ramped is left out: a ramp would turn the exit waves of every position by another
  // phase.
  properties.push_back(is_equivariant<Outputs::states,
                                      Symmetry::turned,
                                      Symmetry::stretched,
                                      Symmetry::twin,
                                      Symmetry::transposed,
                                      Symmetry::mixed,
                                      Symmetry::translated,
                                      Symmetry::reflected,
                                      Symmetry::dark,
                                      Symmetry::brightened>());
  properties.push_back(counts_every_position<Outputs::states>());
  properties.push_back(keeps_the_truth_on_whole_pixels());
  properties.push_back(waves_grow_by_beta());
  properties.push_back(fixed_points_are_solutions());
  return {.properties = std::move(properties)};
}

}  // namespace rankcheck::cases::difference_map_step
