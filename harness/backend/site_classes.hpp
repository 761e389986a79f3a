#pragma once

#include <vector>

#include "reference/spec/contract.hpp"

#include "harness/backend/backend.hpp"
#include "harness/case/site_class.hpp"

namespace rankcheck::harness {

/// The classes that an operation may have on a backend, in units with `ranks_min` … `ranks_max`
/// ranks.
[[nodiscard]] std::vector<SiteClass> site_classes(const spec::Contract& contract,
                                                  const BackendTraits& traits,
                                                  int ranks_min,
                                                  int ranks_max);

}  // namespace rankcheck::harness
