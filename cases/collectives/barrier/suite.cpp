#include "cases/collectives/groups_at_once.hpp"
#include "cases/collectives/separates_ranks.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::barrier {

Suite suite() {
  return {.properties = {
              separates_ranks(),
              groups_at_once(),
          }};
}

}  // namespace rankcheck::cases::barrier
