#include "cases/collectives/separates_ranks.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::barrier {

Suite suite() {
  return {.properties = {
              separates_ranks(),
          }};
}

}  // namespace rankcheck::cases::barrier
