#include "harness/properties/separates_ranks.hpp"

#include "cases/registry.hpp"

namespace rankcheck::cases::barrier {

Suite suite() {
  return {.properties = {
              harness::separates_ranks(),
          }};
}

}  // namespace rankcheck::cases::barrier
