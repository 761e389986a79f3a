#include "cases/ptycho/halo_laws.hpp"

namespace rankcheck::cases::halo_replace {

Suite suite() {
  auto properties = halo_properties();
  properties.push_back(is_idempotent());
  return {.properties = std::move(properties)};
}

}  // namespace rankcheck::cases::halo_replace
