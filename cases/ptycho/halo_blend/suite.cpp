#include "cases/ptycho/halo_laws.hpp"

namespace rankcheck::cases::halo_blend {

Suite suite() {
  auto properties = halo_properties();
  properties.push_back(is_idempotent());
  properties.push_back(stays_between_the_copies());
  return {.properties = std::move(properties)};
}

}  // namespace rankcheck::cases::halo_blend
