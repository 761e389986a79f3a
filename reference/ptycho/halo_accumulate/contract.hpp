#pragma once

#include "reference/spec/operator.hpp"

namespace rankcheck::reference::halo_accumulate {

/// Every copy of a pixel becomes the sum of all its copies, with the same bits on every rank. This
/// turns the tiles of a gradient into one gradient. A second call adds the copies again.
inline spec::Contract contract() {
  return {.name = "halo_accumulate",
          .summary = "Every copy of a pixel becomes the sum of the copies on all ranks.",
          .formula = "out[r][x] = sum over the ranks q that hold x of in[q][x]",
          .source = "gradient accumulation of image gradient decomposition (Yu et al., SC22)",
          .part = spec::OperatorTraits{.inputs = {spec::Array::tile},
                                       .outputs = {spec::Array::tile},
                                       .linear_in = {spec::Array::tile},
                                       .tiled = true,
                                       .exact_on_whole_numbers = true}};
}

}  // namespace rankcheck::reference::halo_accumulate
