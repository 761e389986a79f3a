#pragma once

#include "reference/spec/operator.hpp"

namespace rankcheck::reference::fuse {

/// The inverse of redistribute: moves the data of each scan position from its owner's shard to the
/// rank that has the position. This restores the order. The values behind a shard's own positions
/// have no meaning.
inline spec::Contract contract() {
  return {
      .name = "fuse",
      .summary =
          "Sends positions and frames from their owners back to the ranks that they came from.",
      .formula = "x[i] = shard[r][k], i the k-th position with owners[i] = r",
      .source = "tike PR #72, asarray_multi_fuse, in the order of the fixed version (f8092768)",
      .part = spec::OperatorTraits{
          .inputs = {spec::Array::owners, spec::Array::shard_positions, spec::Array::shard_frames},
          .outputs = {spec::Array::positions, spec::Array::frames},
          .exact_on_whole_numbers = true}};
}

}  // namespace rankcheck::reference::fuse
