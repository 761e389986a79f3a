#pragma once

#include "reference/spec/operator.hpp"

namespace rankcheck::reference::redistribute {

/// Moves the data of each scan position to the position's owner. Rank r's shard then holds the
/// positions that r owns, in the order of their numbers, and zeros behind them. A shard has room
/// for all positions, because any rank may own all of them.
inline spec::Contract contract() {
  return {.name = "redistribute",
          .summary = "Sends positions and frames to the ranks that own them.",
          .formula = "shard[r][k] = x[i], i the k-th position with owners[i] = r",
          .source = "tike PR #72, as_array_multi_split",
          .part = spec::OperatorTraits{
              .inputs = {spec::Array::owners, spec::Array::positions, spec::Array::frames},
              .outputs = {spec::Array::shard_positions, spec::Array::shard_frames},
              .exact_on_whole_numbers = true}};
}

}  // namespace rankcheck::reference::redistribute
