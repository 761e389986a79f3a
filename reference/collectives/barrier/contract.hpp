#pragma once

#include "reference/spec/collective.hpp"

namespace rankcheck::reference::barrier {

/// No rank leaves before every rank has entered. There are no buffers.
inline spec::Contract contract() {
  return {.name = "barrier",
          .summary = "No rank leaves before every rank has entered.",
          .formula = "leave[r] after enter[q], for every q",
          .source = "MPI_Barrier",
          .has_buffers = false,
          .synchronises = true,
          .part = spec::CollectiveTraits{.sizes = spec::Sizes::none,
                                         .extents = [](const spec::Call&, int, spec::Extents&) {}}};
}

}  // namespace rankcheck::reference::barrier
