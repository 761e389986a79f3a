#pragma once

#include "reference/spec/collective.hpp"
#include "reference/spec/shapes.hpp"

namespace rankcheck::reference::all_gather_axis {

/// Every rank gives an array and gets the arrays of all ranks, joined along one axis in rank order.
/// The array of rank q has the shape (outer, counts[q], inner), and the result has the shape
/// (outer, L, inner), where L is the sum of all counts. All arrays are row-major and without gaps.
/// s_q is the sum of the counts before rank q. Ranks may have no elements.
inline spec::Contract contract() {
  return {
      .name = "all_gather_axis",
      .summary = "Every rank gets the arrays of all ranks, joined along one axis in rank order.",
      .formula = "out[r][(a, s_q + j, b)] = in[q][(a, j, b)]",
      .source = "tike, MPIComm.Allgather along an axis; numpy.concatenate",
      .in_place = spec::InPlace::none,
      .ranks_agree = true,
      .part = spec::CollectiveTraits{
          .sizes = spec::Sizes::lengths_along_axis,
          .extents = [](const spec::Call& call, int rank, spec::Extents& extents) {
            extents.send_size = append_strips(extents.send, call, block_count(call, rank));
            extents.recv_size = append_strips(extents.recv, call, axis_length(call));
          }}};
}

}  // namespace rankcheck::reference::all_gather_axis
