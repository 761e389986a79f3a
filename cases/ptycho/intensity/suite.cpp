#include "harness/properties/is_deterministic.hpp"

#include "cases/ptycho/gauge_laws.hpp"
#include "cases/ptycho/laws.hpp"
#include "cases/ptycho/position_laws.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::intensity {

Suite suite() {
  return {.properties = {
              operator_agrees_with_reference(),
              harness::is_deterministic(),
              is_independent_of_partition(),
              takes_each_position_alone<Match::exact>(),
              keeps_symmetries(),
          }};
}

}  // namespace rankcheck::cases::intensity
