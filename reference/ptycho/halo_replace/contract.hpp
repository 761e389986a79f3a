#pragma once

#include "reference/spec/operator.hpp"

namespace rankcheck::reference::halo_replace {

/// Every copy of a pixel becomes its owner's copy, bit by bit. So the pixels of the tiles
/// themselves stay unchanged. A second call changes nothing.
inline spec::Contract contract() {
  return {.name = "halo_replace",
          .summary = "Every copy of a pixel becomes the copy of the rank that owns the pixel.",
          .formula = "out[r][x] = in[owner of x][x]",
          .source = "halo voxel exchange (Guan et al. 2019); tike's documentation of swap_edges",
          .part = spec::OperatorTraits{.inputs = {spec::Array::tile},
                                       .outputs = {spec::Array::tile},
                                       .linear_in = {spec::Array::tile},
                                       .tiled = true,
                                       .exact_on_whole_numbers = true}};
}

}  // namespace rankcheck::reference::halo_replace
