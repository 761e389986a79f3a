#include "cases/ptycho/halo_laws.hpp"

namespace rankcheck::cases::halo_accumulate {

Suite suite() {
  auto properties = halo_properties();
  properties.push_back(multiplies_when_repeated());
  properties.push_back(conserves_the_sum());
  return {.properties = std::move(properties)};
}

}  // namespace rankcheck::cases::halo_accumulate
