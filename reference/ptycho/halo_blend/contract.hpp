#pragma once

#include "reference/spec/operator.hpp"

namespace rankcheck::reference::halo_blend {

/// Every copy of a pixel becomes the mean of all its copies, weighted by ramps. A copy has a
/// smaller weight the nearer it is to an edge of its rank's box (tile and halo). With h = halo, the
/// ramp along the rows is
///
///   ramp = min(2 h + 1, 1 + rows to the upper edge, 1 + rows to the lower edge),
///
/// where an edge of the object does not count as an edge. The ramp along the columns is defined in
/// the same way, and the weight is the product of both ramps. Where two tiles meet, both ranks hold
/// 2h pixels. Across these the weights go from 2h to 1 and from 1 to 2h; their sum is 2h + 1. All
/// weights are positive, the result is divided by their sum, and neighbours are treated alike.
/// Every rank ends with the same bits. Equal copies stay unchanged except for roundings.
inline spec::Contract contract() {
  return {
      .name = "halo_blend",
      .summary = "Every copy of a pixel becomes the mean of all copies, weighted by linear ramps.",
      .formula =
          "out[r][x] = sum over the ranks q that hold x of w[q][x] in[q][x] / sum of w[q][x]",
      .source = "tike ThreadPool.swap_edges (HEAD), for any tiles",
      .part = spec::OperatorTraits{.inputs = {spec::Array::tile},
                                   .outputs = {spec::Array::tile},
                                   .linear_in = {spec::Array::tile},
                                   .tiled = true}};
}

}  // namespace rankcheck::reference::halo_blend
