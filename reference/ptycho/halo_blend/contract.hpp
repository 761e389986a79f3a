#pragma once

#include "reference/spec/contract.hpp"

namespace rankcheck::reference::halo_blend {

/// Every copy of a pixel becomes the mean of all its copies, weighted by ramps: a copy counts the
/// less, the nearer it is to an edge of what its rank holds. With h = halo, along the rows
///
///   ramp = min(2 h + 1, 1 + rows to the upper edge, 1 + rows to the lower edge),
///
/// where an edge of the object does not count as one; along the columns likewise; and the weight is
/// the product of both ramps. Where two tiles meet, the weights go from 2h to 1 and from 1 to 2h,
/// of 2h + 1, across the 2h pixels that both hold. All weights are positive, their sum is divided
/// out, and neighbours are treated alike; every rank ends with the same bits. Copies that are equal
/// stay as they are, but for roundings.
inline spec::Contract contract() {
  return {
      .name = "halo_blend",
      .summary = "Every copy of a pixel becomes the mean of all copies, weighted by linear ramps.",
      .formula =
          "out[r][x] = sum over the ranks q that hold x of w[q][x] in[q][x] / sum of w[q][x]",
      .source = "tike ThreadPool.swap_edges (HEAD), for any tiles",
      .sizes = spec::Sizes::scene,
      .inputs = {spec::Array::tile},
      .outputs = {spec::Array::tile},
      .linear_in = {spec::Array::tile},
      .tiled = true,
  };
}

}  // namespace rankcheck::reference::halo_blend
