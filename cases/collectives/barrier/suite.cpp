#include "cases/collectives/properties/separates_ranks.hpp"
#include "cases/registry.hpp"

namespace rankcheck::cases::barrier {

Suite suite() {
  return {.properties = {
              separates_ranks(),
          }};
}

}  // namespace rankcheck::cases::barrier
