#include <utility>

#include "cases/families/ptycho/symmetry.hpp"
#include "cases/ptycho/gauge_laws.hpp"
#include "cases/ptycho/lsqml_laws.hpp"
#include "cases/ptycho/step_laws.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::lsqml_step {

Suite suite() {
  auto properties = step_properties();
  // Symmetry::mixed is left out, because mode 0 alone determines the step lengths.
  properties.push_back(is_equivariant<Outputs::states,
                                      Symmetry::turned,
                                      Symmetry::stretched,
                                      Symmetry::twin,
                                      Symmetry::transposed,
                                      Symmetry::translated,
                                      Symmetry::ramped,
                                      Symmetry::reflected,
                                      Symmetry::dark,
                                      Symmetry::brightened>());
  properties.push_back(counts_every_position<Outputs::states>());
  properties.push_back(keeps_the_truth_along_its_directions());
  properties.push_back(moves_no_more_than_came_back());
  return {.properties = std::move(properties)};
}

}  // namespace rankcheck::cases::lsqml_step
