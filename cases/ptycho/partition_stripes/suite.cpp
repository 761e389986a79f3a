#include "cases/ptycho/partition_laws.hpp"

namespace rankcheck::cases::partition_stripes {

Suite suite() {
  return {.properties = partition_properties()};
}

}  // namespace rankcheck::cases::partition_stripes
