#pragma once

#include <vector>

#include "reference/spec/contract.hpp"

#include "harness/backend/backend.hpp"
#include "harness/case/call_class.hpp"

namespace rankcheck::harness {

/// The classes that an operation may have on a backend, in units with `ranks_min` … `ranks_max`
/// ranks.
[[nodiscard]] std::vector<CallClass> call_classes(const spec::Contract& contract,
                                                  const BackendTraits& traits,
                                                  int ranks_min,
                                                  int ranks_max);

}  // namespace rankcheck::harness
