#include "cases/ptycho/partition_laws.hpp"

namespace rankcheck::cases::partition_consecutive {

Suite suite() {
  return {.properties = equal_partition_properties()};
}

}  // namespace rankcheck::cases::partition_consecutive
