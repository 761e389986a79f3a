#pragma once

#include "reference/spec/collective.hpp"
#include "reference/spec/shapes.hpp"

namespace rankcheck::reference::reduce_axis {

/// The root gets the combination of all rows of all ranks. The array of rank q has the shape
/// (outer, counts[q], inner), row-major and without gaps, and a row is what has one index along the
/// axis. The result has the shape (outer, inner). `avg` divides by the number of all rows, which is
/// the sum of the counts. There must be at least one row, but ranks may have none. premul_sum
/// multiplies all rows of a rank by the rank's scalar. The other ranks have a recv buffer too,
/// which stays unchanged.
inline spec::Contract contract() {
  return {.name = "reduce_axis",
          .summary = "The root gets the combination of all rows of all ranks along one axis.",
          .formula = "out[root][(a, b)] = op over q, j of in[q][(a, j, b)]",
          .source = "tike, Comm.reduce and reduce_mean along an axis",
          .in_place = spec::InPlace::none,
          .part = spec::CollectiveTraits{
              .sizes = spec::Sizes::lengths_along_axis,
              .reduces = true,
              .rooted = true,
              .extents = [](const spec::Call& call, int rank, spec::Extents& extents) {
                extents.send_size = append_strips(extents.send, call, block_count(call, rank));
                extents.recv_size = append_strips(extents.recv, call, 1);
                if (rank != call.root) extents.recv.clear();
              }}};
}

}  // namespace rankcheck::reference::reduce_axis
