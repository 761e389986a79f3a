#pragma once

#include "reference/spec/contract.hpp"

namespace rankcheck::reference::barrier {

/// No rank leaves before every rank has entered. There are no buffers.
inline spec::Contract contract() {
  return {
      .name = "barrier",
      .summary = "No rank leaves before every rank has entered.",
      .formula = "leave[r] after enter[q], for every q",
      .source = "MPI_Barrier",
      .sizes = spec::Sizes::none,
      .synchronises = true,
      .extents = [](const spec::Call&, int, spec::Extents&) {},
  };
}

}  // namespace rankcheck::reference::barrier
