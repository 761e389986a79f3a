#include "cases/ptycho/partition_laws.hpp"

namespace rankcheck::cases::partition_random {

Suite suite() {
  return {.properties = equal_partition_properties()};
}

}  // namespace rankcheck::cases::partition_random
